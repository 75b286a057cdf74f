"""Votes from what people already have: logs of other tools, and tables of any layout."""

from typing import Any

import lazy_loader

from swaplaw._core.hooks import provide

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _open(votes: Any) -> Any:
    from swaplaw.importers.reading import is_frame, read_votes, votes_from

    return votes_from(votes) if is_frame(votes) else read_votes(votes)


provide("open votes", _open)
