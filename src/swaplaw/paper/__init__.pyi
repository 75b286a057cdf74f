from .simulation import World as World
from .simulation import simulate as simulate
from .synthetic import Fleet as Fleet
from .synthetic import Model as Model
from .synthetic import generate as generate

__all__ = [
    "Fleet",
    "Model",
    "World",
    "generate",
    "simulate",
]
