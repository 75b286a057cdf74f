"""The report: a verdict people can see, explore and share, as one self-contained page that needs no network.

`contents` gathers the numbers, `explorer` lays out exact curves and votes so that the page never approximates, and
`html` puts them into HTML so that nothing in them can run.
"""

from swaplaw.report.contents import Options, document
from swaplaw.report.html import page, write_page

__all__ = ["Options", "document", "page", "write_page"]
