"""What to deploy: one cross-fit, what is proven, what to deploy now, what calls buy, and the policy."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
