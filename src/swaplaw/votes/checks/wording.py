"""Numbers in the words of a check."""

from __future__ import annotations

from swaplaw.errors import several


def votes_differ(votes: int, share: float) -> str:
    """Say how many votes differ, and which share of all they are.

    >>> votes_differ(1, 0.001), votes_differ(20, 0.1)
    ('1 vote (under 1%) differs', '20 votes (10%) differ')
    """
    shown = "under 1%" if share < 0.01 else f"{share:.0%}"
    return f"{several(votes, 'vote')} ({shown}) {'differs' if votes == 1 else 'differ'}"
