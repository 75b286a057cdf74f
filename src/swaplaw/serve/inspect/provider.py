"""The Inspect model provider `swaplaw`: `--model swaplaw/policy.json` evaluates the policy that is deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspect_ai.model import modelapi

from swaplaw._inspect_run import errors_for_inspect
from swaplaw.errors import MissingExtraError

if TYPE_CHECKING:
    from swaplaw.serve.inspect.api import PolicyAPI


@modelapi(name="swaplaw")
def policy() -> type[PolicyAPI]:
    """Policies as models; what talks to their members is loaded only for those who ask for one."""
    with errors_for_inspect():
        try:
            from swaplaw.serve.inspect.api import PolicyAPI
        except ModuleNotFoundError as missing:
            if (missing.name or "").startswith("swaplaw"):
                raise
            raise MissingExtraError("serve", "asking a policy") from None
    return PolicyAPI
