"""What comes back from an upstream: samples, or nothing that can be used."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

from pydantic_core import from_json


class Completion(NamedTuple):
    """One sample, as an upstream gave it."""

    text: str
    finish_reason: str | None
    input_tokens: int = 0
    output_tokens: int = 0
    refused: bool = False
    """The model declined, in the field that is there for it."""


class UpstreamError(Exception):
    """A call that gave no sample; the message is ours and holds nothing of the upstream's."""

    def __init__(self, result: str, *, passing: bool = True, healthy: bool = False, status: int | None = None) -> None:
        super().__init__(result)
        self.result = result
        self.passing = passing
        """Another try may help."""
        self.healthy = healthy
        """It says nothing against the upstream."""
        self.status = status


class RateLimitedError(UpstreamError):
    """The upstream is well but wants fewer calls; `wait` is how many seconds it asks for, 0 if it does not say."""

    def __init__(self, wait: float) -> None:
        super().__init__("status 429", healthy=True, status=429)
        self.wait = wait


def parse(body: bytes, number: int) -> list[Completion]:
    """Read the samples of a response; raise for anything that is not one."""
    try:
        document = _read(body, _LENIENT)
        choices = document["choices"]
        given, made = tokens_used(document)
        if len(choices) > 1:
            choices = sorted(choices, key=lambda choice: _count(choice.get("index")))
        # Some upstreams ignore `n`, none may answer more often than it was asked; tokens are told for all together.
        first, *others = choices[:number]
        return [_completion(first, given, made), *map(_completion, others)]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UpstreamError("malformed") from None


def tokens_used(document: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens that a response says were given and made; 0 where it does not."""
    usage = document.get("usage")
    if not isinstance(usage, dict):
        return 0, 0
    return _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))


def parse_json(text: bytes | bytearray) -> Any:
    """Read JSON strictly.

    Raises
    ------
    ValueError
        If it is not JSON, or holds a number that JSON or a float does not have.
    RecursionError
        If it is nested too deeply.
    """
    return _STRICT.decode(text.decode()) if _VAST.search(text) else _read(text, _STRICT)


def _read(text: bytes | bytearray, thorough: json.JSONDecoder) -> Any:
    """Read JSON with a parser that takes a fifth of the time.

    What it refuses is read by Python's own, which knows lone surrogates and deeper nesting, and says what is wrong.
    """
    try:
        return from_json(text, allow_inf_nan=thorough is _LENIENT, cache_strings="keys")
    except ValueError:
        return thorough.decode(text.decode())


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number that JSON has")


def _finite(text: str) -> float:
    found = float(text)
    return found if isfinite(found) else _no_number("a number beyond all floats")


_LENIENT = json.JSONDecoder()
_STRICT = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite)
_VAST = re.compile(rb"[eE]\+?[0-9]{3}|[0-9]{200}")
"""What may be a number beyond all floats, which the quick parser takes for infinity."""


def _completion(choice: Mapping[str, Any], input_tokens: int = 0, output_tokens: int = 0) -> Completion:
    message = choice["message"]
    refusal = message.get("refusal")
    refused = isinstance(refusal, str) and bool(refusal)
    content = message["content"] if not refused else message.get("content")
    return Completion(_text(content), _word(choice.get("finish_reason")), input_tokens, output_tokens, refused)


def _text(content: object) -> str:
    """What is said; of content in parts, the text parts."""
    if content is None:
        return ""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") in ("text", "output_text"))
    if not isinstance(content, str):
        raise TypeError
    # Lone surrogates, which JSON can smuggle in, could not be sent on; a question mark in their place might be read.
    return content if content.isascii() else content.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value in ("stop", "length", "content_filter") else None


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else 0
