"""Before anything is spent: is there such a model, does the key open it, does its server answer?

Inspect itself says when a provider, its package or its key is missing. Whether the model can be asked is found out by
asking it: one short question, at most sixteen tokens, and no retries.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from inspect_ai.model import GenerateConfig, ModelOutput, get_model
from tenacity import RetryError

from swaplaw.errors import InputError, SwaplawError, quote

UNASKED = ("mockllm", "none", "local")
"""Providers without a server that could be missing: a local server has said that it is ready."""
QUESTION = "Reply with the word OK."
SECONDS = 60


def check_models(names: Sequence[str], base_url: str | None = None) -> None:
    """Ask every model once; the first that cannot be asked is an error that says why."""
    asked = [name for name in names if name.partition("/")[0] not in UNASKED]
    failures = asyncio.run(_ask_all(asked, base_url)) if asked else []
    for name, failure in zip(asked, failures, strict=True):
        if failure is not None:
            raise _explained(name, failure)


async def _ask_all(names: Sequence[str], base_url: str | None) -> list[BaseException | None]:
    answers = await asyncio.gather(*(_ask(name, base_url) for name in names), return_exceptions=True)
    return [answer if isinstance(answer, BaseException) else None for answer in answers]


async def _ask(name: str, base_url: str | None) -> ModelOutput:
    # A client of its own: connections belong to the event loop that opened them.
    config = GenerateConfig(max_tokens=16, max_retries=0, timeout=SECONDS)
    async with get_model(name, base_url=base_url, config=config, memoize=False) as model:
        return await model.generate(QUESTION, cache=False)


def _explained(name: str, failure: BaseException) -> SwaplawError:
    cause = failure.last_attempt.exception() if isinstance(failure, RetryError) else failure
    status, kind = getattr(cause, "status_code", None), type(cause).__name__
    model = f"model {quote(name)}"
    if status == 404:
        return InputError(f"{model} is not known to its server: {_said(cause)}; check the name after the provider")
    if status in (401, 403):
        return InputError(f"{model}: its server refused the API key ({_said(cause)}); check the provider's key")
    if "Connection" in kind or "Timeout" in kind:
        return InputError(f"{model}: its server cannot be reached ({_said(cause)}); check the address and that it runs")
    return SwaplawError(f"{model} cannot be asked ({kind}: {_said(cause)})")


def _said(cause: BaseException | None) -> str:
    return quote(" ".join(str(getattr(cause, "provider_message", None) or cause).split()), 160)
