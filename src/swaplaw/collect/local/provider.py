"""The Inspect model provider `local`: `--model local/smollm2` starts llama.cpp, asks it, and ends it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.model import modelapi

from swaplaw._core.inspect_run import errors_for_inspect
from swaplaw.collect.local.models import require_extra

if TYPE_CHECKING:
    from swaplaw.collect.local.api import LocalAPI


@modelapi(name="local")
def local() -> type[LocalAPI]:
    """Models on this machine; the OpenAI client that talks to them is loaded only for those who ask for one."""
    with errors_for_inspect():
        require_extra()
    from swaplaw.collect.local.api import LocalAPI

    return LocalAPI
