from .forms import canonicaliser as canonicaliser

__all__ = [
    "canonicaliser",
]
