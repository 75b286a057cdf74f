"""Votes from what people already have: logs of other tools, and tables of any layout."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
