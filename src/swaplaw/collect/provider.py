"""The Inspect model provider `local`: `--model local/smollm2` starts llama.cpp, asks it, and ends it.

Model args (`-M` on Inspect's command line): `slots` (samples at once), `context` (tokens per sample), `threads`.
"""

from __future__ import annotations

import atexit
import secrets
from functools import cache
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, ModelAPI, ModelCall, ModelOutput, modelapi
from inspect_ai.tool import ToolChoice, ToolInfo

from swaplaw._inspect_run import errors_for_inspect
from swaplaw.collect.local import SLOTS, LocalServer, require, require_extra, verified

PROMPT, COMPLETION = 1024, 1024
"""Tokens that a prompt gets, and a completion that has no cap of its own."""
NOWHERE = "http://127.0.0.1:9/v1"
"""Stands for the address of a server that is not started yet."""


@modelapi(name="local")
def local() -> type[ModelAPI]:
    """Models on this machine; the OpenAI client that talks to them is loaded only for those who ask for one."""
    with errors_for_inspect():
        require_extra()
    return local_api()


@cache
def local_api() -> type[ModelAPI]:
    """The class of such models."""
    from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI

    class LocalAPI(OpenAICompatibleAPI):
        """A model on this machine, behind the OpenAI-compatible interface of a llama.cpp server of its own.

        The server starts when it is first needed: Inspect makes a model object even to look its name up.
        """

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
            with errors_for_inspect():
                self._weights = require(model_name)
            self._slots, self._threads = slots, threads
            self._context = context or PROMPT + (config.max_tokens or COMPLETION)
            self._server: LocalServer | None = None
            super().__init__(model_name, NOWHERE, secrets.token_hex(16), config, service="local", **model_args)

        def max_connections(self) -> int:
            """More requests than slots would only wait at the server."""
            return self._slots

        def start(self) -> None:
            """Start the server, unless it runs."""
            if self._server is None:
                weights, key = verified(self._weights), str(self.api_key)
                self._server = LocalServer(
                    weights, key, slots=self._slots, context=self._context, threads=self._threads
                )
                atexit.register(self.stop)
                self.base_url = self.client.base_url = self._server.url

        def stop(self) -> None:
            """End the server."""
            if self._server is not None:
                self._server.stop()
                self._server = None
                atexit.unregister(self.stop)

        async def generate(
            self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
        ) -> ModelOutput | tuple[ModelOutput | Exception, ModelCall]:
            """Ask the server; it is started by the first who does."""
            self.start()
            return await super().generate(input, tools, tool_choice, config)

        async def aclose(self) -> None:
            """End the server with the model."""
            await super().aclose()
            self.stop()

    return LocalAPI
