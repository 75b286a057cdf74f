"""The report: a verdict people can see, explore and share, as one self-contained page that needs no network.

`contents` gathers the numbers, `explorer` lays out exact curves and votes so that the page never approximates, and
`html` puts them into HTML so that nothing in them can run. `figures` draws the same pictures for papers and slides.
"""

from swaplaw.report.contents import Options, document
from swaplaw.report.figures import figures, write_figures
from swaplaw.report.html import page, write_page

__all__ = ["Options", "document", "figures", "page", "write_figures", "write_page"]
