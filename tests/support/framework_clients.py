"""LiteLLM and LangChain asking a served policy: `python framework_clients.py litellm|langchain BASE_URL`.

Runs in an environment of its own, with the framework and nothing of this project; prints what it saw as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

QUESTION = [{"role": "user", "content": "Which?"}]
TOOL = {
    "type": "function",
    "function": {"name": "f", "description": "Does it.", "parameters": {"type": "object", "properties": {}}},
}


def litellm_client(url: str) -> dict[str, Any]:
    import litellm

    options: dict[str, Any] = {"model": "openai/pool", "messages": QUESTION, "api_base": url, "api_key": "x"}
    whole = litellm.completion(**options)
    chunks = litellm.completion(**options, stream=True)
    streamed = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    later = asyncio.run(litellm.acompletion(**options))
    deployment = {"model_name": "ensemble", "litellm_params": {"model": "openai/pool", "api_base": url, "api_key": "x"}}
    routed = litellm.Router(model_list=[deployment]).completion(model="ensemble", messages=QUESTION)
    tools = litellm.completion(**options, tools=[TOOL])
    try:
        litellm.completion(**{**options, "model": "openai/other"}, num_retries=0)
        unknown = "answered"
    except litellm.NotFoundError:
        unknown = "not found"
    return {
        "whole": whole.choices[0].message.content,
        "tokens": whole.usage.total_tokens,
        "streamed": streamed,
        "later": later.choices[0].message.content,
        "routed": routed.choices[0].message.content,
        "tools": tools.choices[0].message.content,
        "unknown": unknown,
    }


def langchain_client(url: str) -> dict[str, Any]:
    from langchain_openai import ChatOpenAI
    from openai import NotFoundError

    def chat(**more: Any) -> Any:
        return ChatOpenAI(**{"model": "pool", "base_url": url, "api_key": "x", "max_retries": 0, **more})

    whole = chat().invoke("Which?")
    batch = chat().batch(["Which?", "And now?"])
    try:
        chat(model="other").invoke("Which?")
        unknown = "answered"
    except NotFoundError:
        unknown = "not found"
    return {
        "whole": whole.content,
        "tokens": whole.usage_metadata["total_tokens"],
        "streamed": "".join(str(chunk.content) for chunk in chat().stream("Which?")),
        "later": asyncio.run(chat().ainvoke("Which?")).content,
        "routed": batch[1].content,
        "tools": chat().bind_tools([TOOL]).invoke("Which?").content,
        "unknown": unknown,
    }


if __name__ == "__main__":
    ask = {"litellm": litellm_client, "langchain": langchain_client}[sys.argv[1]]
    print(json.dumps(ask(sys.argv[2])))
