"""Lift before pooling: the calibrated law, screening, and what predicts lift."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
