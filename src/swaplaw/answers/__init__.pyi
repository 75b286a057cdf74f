from .forms import canonicaliser as canonicaliser
from .forms import register as register

__all__ = [
    "canonicaliser",
    "register",
]
