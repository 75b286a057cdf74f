"""The paper side by side: its tables, figures and stated numbers from vote tables, beside the published ones."""

from swaplaw.paper.reproduce.folder import Reproduction, write_reproduction
from swaplaw.paper.reproduce.study import Dataset, Study, study_of

__all__ = ["Dataset", "Reproduction", "Study", "study_of", "write_reproduction"]
