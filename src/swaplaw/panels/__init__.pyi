from .exact import Certificate as Certificate
from .exact import FleetOptimum as FleetOptimum
from .exact import certify as certify
from .exact import fleet_optimum as fleet_optimum
from .exact import marginals as marginals
from .line_search import grid_search as grid_search
from .panel import Cell as Cell
from .panel import Panel as Panel
from .panel import PanelOptimum as PanelOptimum
from .panel import PanelOutcome as PanelOutcome
from .search import PanelSearch as PanelSearch
from .search import best_panels as best_panels

__all__ = [
    "Cell",
    "Certificate",
    "FleetOptimum",
    "Panel",
    "PanelOptimum",
    "PanelOutcome",
    "PanelSearch",
    "best_panels",
    "certify",
    "fleet_optimum",
    "grid_search",
    "marginals",
]
