from .choice import read_choice as read_choice
from .forms import canonicaliser as canonicaliser
from .forms import register as register
from .readers import Reader as Reader

__all__ = [
    "Reader",
    "canonicaliser",
    "read_choice",
    "register",
]
