"""The report: a verdict people can see, explore and share, as one self-contained page that needs no network.

`document` gathers the numbers, `explorer` lays out exact curves and votes so that the page never approximates, and
`page` puts them into HTML so that nothing in them can run.
"""

from swaplaw.report.document import Options, document
from swaplaw.report.page import page, write_page

__all__ = ["Options", "document", "page", "write_page"]
