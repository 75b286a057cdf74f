from .contents import Options as Options
from .contents import document as document
from .figures import write_figures as write_figures
from .html import page as page
from .html import write_page as write_page

__all__ = ["Options", "document", "page", "write_figures", "write_page"]
