"""The report: a verdict people can see, explore and share, as one self-contained page that needs no network.

`contents` gathers the numbers, `explorer` lays out exact curves and votes so that the page never approximates, and
`html` puts them into HTML so that nothing in them can run. `figures` draws the same pictures for papers and slides.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
