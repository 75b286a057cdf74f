"""What a completion says aloud: the reply without its thinking and without a chat template's tokens."""

from __future__ import annotations

import re
from collections import Counter

LONGEST = 30_000
"""Completions are untrusted: of what is spoken, the end is read, and time does not depend on what a model says."""

_NAMES = (
    r"(?:seed:|ant_?)?(?:think(?:ing)?|thoughts?|reason(?:ing)?|reflect(?:ion)?|scratch_?pad|analysis"
    r"|(?:inner_?|internal_?)?monologue|cot|chain_of_thought|plan(?:ning)?|deliberation)"
)
_TAG = re.compile(
    rf"<\s?(?P<slash>/?)\s?(?P<name>{_NAMES})(?:\s[^<>]{{0,200}})?>"
    r"|<(?:(?P<slash3>/)(?P<name3>details)|details\s[^<>]{0,100}reasoning[^<>]{0,100})>"
    r"|[\[◁](?P<slash2>/?)(?P<name2>think(?:ing)?)[\]▷]"
    r"|<\|(?P<slash4>/?)(?P<name4>think(?:ing)?)\|>"
    r"|<[|｜](?P<turn>begin|end|start)(?:_of_|▁of▁|_)(?:thoughts?|thinking|reasoning)[|｜]>"
    r"|<unused(?P<unused>94|95)>"
    # Some models announce both parts in words, each on a line of its own.
    r"|^(?P<announced>here(?: is|'s) my (?P<part>thought process|response):)[ \t]*$"
    # Channels of one message: only the final one is spoken.
    r"|(?P<channel><\|channel\|?>\s{0,9}(?:analysis|thought|commentary)\b)"
    r"|(?P<final><\|channel\|>\s{0,9}final\b)|(?P<pause><\|(?:end|return)\|>|<channel\|>)",
    re.IGNORECASE | re.MULTILINE,
)
_TOKENS = re.compile(
    r"<[|｜][^|｜<>\n]{1,40}[|｜]>|</?s>|<(?:end_of_turn|start_of_turn|eos|bos|pad)>|\[/?INST\]", re.IGNORECASE
)
_BOX_TOKENS = re.compile(r"<\|begin_of_box\|>([^<>\n]{0,200})<\|end_of_box\|>")

_FINAL = "assistantfinal"
"""What is left between the channels of a reply whose tokens were stripped: "analysis…assistantfinal…"."""


def spoken(text: str) -> str:
    """Leave out thinking: what stands between its tags, before a tag that only closes, after one that never closes."""
    if text.startswith("analysis") and _FINAL in text:
        text = text[text.rindex(_FINAL) + len(_FINAL) :]
    if not any(mark in text for mark in _MARKS):
        return text[-LONGEST:]
    kept: list[str] = []
    within: list[str] = []
    depth: Counter[str] = Counter()
    start = 0
    for tag in _TAG.finditer(text):
        if not within:
            kept.append(text[start : tag.start()])
        start = tag.end()
        name, closes = _read_tag(tag)
        if not closes:
            within.append(name)
            depth[name] += 1
        elif depth[name]:
            while (last := within.pop()) != name:
                depth[last] -= 1
            depth[name] -= 1
        elif not within and name != "details" and not tag["pause"]:
            kept.clear()  # The tag that opened it was in the prompt: all so far was thinking.
    if not within:
        kept.append(text[start:])
    return _TOKENS.sub("\n", _BOX_TOKENS.sub(r"\\boxed{\1}", "\n".join(kept)[-LONGEST:]))


_MARKS = ("<", "[", "◁", "ere is my", "ere's my")
"""Without any of these, nothing in a reply is thinking."""


def _read_tag(tag: re.Match[str]) -> tuple[str, bool]:
    """Which kind of thinking a tag bounds, and whether it closes it."""
    if tag["channel"] or tag["final"] or tag["pause"]:
        return "channel", not tag["channel"]
    if tag["announced"]:
        return "announced", tag["part"].lower() == "response"
    if tag["unused"]:
        return "unused", tag["unused"] == "95"
    if tag["turn"]:
        return "thought", tag["turn"].lower() == "end"
    name = tag["name"] or tag["name2"] or tag["name4"] or "details"
    return name.lower(), bool(tag["slash"] or tag["slash2"] or tag["slash3"] or tag["slash4"])
