"""The Inspect model provider `local`: `--model local/smollm2` starts llama.cpp, asks it, and ends it.

Model args (`-M` on Inspect's command line): `slots` (samples at one time), `context` (tokens a sample), `threads`.
"""

from __future__ import annotations

import atexit
from typing import Any

from inspect_ai.model import GenerateConfig, modelapi
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI

from swaplaw.collect.local import SLOTS, LocalServer, find_weights

PROMPT, COMPLETION = 1024, 1024
"""Tokens that a prompt gets, and a completion that has no cap of its own."""


class LocalAPI(OpenAICompatibleAPI):
    """A model on this machine, behind the OpenAI-compatible interface of a llama.cpp server of its own."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),  # noqa: B008 (Inspect's own signature)
        slots: int = SLOTS,
        context: int | None = None,
        threads: int | None = None,
        **model_args: Any,
    ) -> None:
        room = context or PROMPT + (config.max_tokens or COMPLETION)
        self._server = LocalServer(find_weights(model_name), slots=slots, context=room, threads=threads)
        self._slots = slots
        atexit.register(self.stop)
        super().__init__(model_name, self._server.url, self._server.key, config, service="local", **model_args)

    def max_connections(self) -> int:
        """More requests than slots would only wait at the server."""
        return self._slots

    def stop(self) -> None:
        """End the server."""
        self._server.stop()
        atexit.unregister(self.stop)

    async def aclose(self) -> None:
        """End the server with the model."""
        await super().aclose()
        self.stop()


local = modelapi(name="local")(LocalAPI)
