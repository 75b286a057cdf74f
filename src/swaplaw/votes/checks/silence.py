"""Texts that stand for no answer: what tools write where there is none, error messages, refusals, doubts.

Models wrote these texts, so every pattern is anchored at its beginning and looks no further than a bounded distance:
the time that it takes grows with the length of a text, and no faster.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Set

from swaplaw.answers.hedges import ABSTENTIONS, EXCUSES
from swaplaw.votes.checks.seen import form

LONGEST_REFUSAL = 600
"""Longer texts may begin with an apology, but say more than that."""
_TOOLS = re.compile(
    r"[\[(<]?(?:#?n/?a|n\.a\.?|nan|null|none|nil|undefined|-+|\?+|"
    r"#(?:value!|ref!|div/0!|name\?|num!|null!)|content[ _-]filter(?:ed)?|"
    r"no[ _-]?(?:valid )?(?:answer|response|output|parse|match|result)(?: found| given)?|"
    r"(?:request )?timed?[ -]?out\.?|invalid|unparse?able|unanswerable|refused|failed|failure|not parsed|"
    r"(?:(?:api|rate.?limit|internal|server|connection|network|http|request|parse|parsing) )*(?:error|exception)"
    r"(?:[.!]?|\W*[:(\[-].*|\s+\d.*|\s+(?:code|occurred|while)\b.*)|"
    r"(?-i:(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b.*)|http[ /]?[45]\d\d\b.*|traceback\b.*)[\])>]?[.!]?",
    re.IGNORECASE | re.DOTALL,
)
_STATUS = (
    r"too many requests|service (?:temporarily )?unavailable|bad gateway|gateway time-?out|internal server error|"
    r"request time-?out"
)
_FAILURES = re.compile(
    rf"(?:[45]\d\d\W{{1,3}})?(?:{_STATUS})\b|[45]\d\d\W{{1,3}}(?:not found|bad request|unauthorized|forbidden)\b|"
    r"upstream (?:connect error|request timeout)|https?connectionpool\(|"
    r"(?:cuda|gpu)\W{1,3}(?:error\W{1,3})?out of memory\b|out of memory\W*$|"
    r"(?:rate.?limit|quota) (?:exceeded|reached)\b|(?:the )?(?:model|server|engine) is (?:currently )?overloaded\b|"
    r"(?:failed|unable|could not|couldn't) (?:to )?(?:parse|connect|generate|extract|fetch|load)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<(?:!doctype|html|head|body)\b|<\?xml\b", re.IGNORECASE)
_TOKEN = re.compile(r"(?:<\|\w{1,30}\|>|</?s>)+")
"""What a model ends with, where its answer is empty."""
_ERROR_BODY = re.compile(
    r"[{\[](?!.{0,300}['\"](?:final_?)?answer['\"]\s{0,3}:).{0,200}?"
    r"(?:['\"](?:errors?|detail|exception|fault)['\"]\s{0,3}:|['\"]type['\"]\s{0,3}:\s{0,3}['\"]error['\"])",
    re.IGNORECASE | re.DOTALL,
)
_THINKING = re.compile(r"<think(?:ing)?>(?!.*</think)", re.IGNORECASE | re.DOTALL)
_REFUSAL = re.compile(
    r"(?:(?:i'm|i am|we're|we are) (?:\w{1,8} )?sorry\b|(?:sorry|unfortunately|i apologi[sz]e)\b[^.\n]{0,60}?"
    r"\b(?:i|we)\b|as an ai\b|"
    r"(?:i|we) (?:can(?:no|')t|can not|won't|will not|(?:am|are) (?:unable|not able) to|could(?: not|n't))"
    r" (?:\w{1,12} )?(?:answer|help|assist|comply|provide|fulfill?|complete|continue|engage|respond|solve|do)\b|"
    r"(?:i'm|we're) (?:unable|not able) to\b)",
    re.IGNORECASE,
)
_STATES = re.compile(r"\banswer(?: is|:)|\\boxed|####", re.IGNORECASE)
_DOUBT = re.compile(
    rf"(?:i'm |i am |it is |that is )?(?:{'|'.join(sorted(map(re.escape, ABSTENTIONS), reverse=True))})|"
    rf"(?:{'|'.join(map(re.escape, EXCUSES))})\b.{{0,60}}",
    re.IGNORECASE | re.DOTALL,
)
_MARKS = re.compile(r"[\s.…?!*_'\"`()\[\]{}<>/|\\-]{1,20}")
_EDGES = " \t\n.!?-_…*()[]<>\"'`"


def is_no_answer(text: str) -> bool:
    """Whether a text is what tools write where there is no answer: N/A, an error message, a time-out.

    >>> is_no_answer("N/A"), is_no_answer("openai.RateLimitError: 429"), is_no_answer("nano")
    (True, True, False)
    """
    return _TOOLS.fullmatch(text.strip()) is not None


def is_failure(text: str) -> bool:
    """Whether a text is a message about a request that failed, or a refusal.

    >>> is_failure("429 Too Many Requests"), is_failure("I'm sorry, but I can't help with that."), is_failure("429")
    (True, True, False)
    """
    bare = text.strip().replace("’", "'")
    if _FAILURES.match(bare) or _THINKING.match(bare):
        return True
    return len(bare) <= LONGEST_REFUSAL and _REFUSAL.match(bare) is not None and not _STATES.search(bare)


def is_doubt(text: str) -> bool:
    """Whether a text only says that the answer is not known.

    >>> is_doubt("I don't know."), is_doubt("unknown"), is_doubt("the unknown soldier")
    (True, True, False)
    """
    return len(text) <= 200 and _DOUBT.fullmatch(text.replace("’", "'").strip(_EDGES)) is not None


def silence(golds: Set[str]) -> tuple[Callable[[str], bool], Callable[[str], bool]]:
    """How to tell texts that stand for no answer where these are the right ones: by tools or refusals, and by doubt.

    What is gold on some question is an answer, however it is spelt. An empty list is an answer where golds are lists,
    and marks are answers where golds are marks.
    """
    right = {form("text")(gold) for gold in golds} | golds
    opening = {gold.strip()[:1] for gold in golds}
    marks = any(not any(map(str.isalnum, gold)) for gold in golds)

    def silent(text: str) -> bool:
        if not (is_no_answer(text) or is_failure(text) or _is_empty(text, opening, marks=marks)):
            return False
        return not _is_gold(text, right)

    def doubtful(text: str) -> bool:
        return is_doubt(text) and not _is_gold(text, right)

    return silent, doubtful


def _is_empty(text: str, opening: Set[str], *, marks: bool) -> bool:
    """Whether a text is an error page, an error body, an end or nothing but marks, unless golds begin as it does."""
    bare = text.strip()
    if bare[:1] in opening:
        return False
    return bool(_MARKUP.match(bare) or _ERROR_BODY.match(bare) or _TOKEN.fullmatch(bare)) or (
        not marks and _MARKS.fullmatch(bare) is not None
    )


def _is_gold(text: str, right: Set[str]) -> bool:
    return text in right or form("text")(text) in right
