from .simulation import World as World
from .simulation import simulate as simulate
from .synthetic import Fleet as Fleet
from .synthetic import Model as Model
from .synthetic import generate as generate
from .twins import twin as twin

__all__ = [
    "Fleet",
    "Model",
    "World",
    "generate",
    "simulate",
    "twin",
]
