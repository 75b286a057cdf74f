from .reading import Imported as Imported
from .record import Options as Options
from .registry import Format as Format
from .registry import register as register

__all__ = [
    "Format",
    "Imported",
    "Options",
    "register",
]
