"""One fresh generation: the options in the epoch's order, a prompt that asks for reasoning, and a seed of its own."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

from inspect_ai.model import ChatMessageUser
from inspect_ai.solver import Generate, Solver, TaskState, solver

from swaplaw.answers.letters import letter
from swaplaw.collect.design.orders import order

ORDER = "order"
"""Key of the sample's metadata: canonical letters in the order in which this epoch showed their options."""

FULL = "Think step by step before you answer."
BRIEF = "Think in one or two sentences."
PROMPT = """Answer the following multiple choice question. {think} \
The last line of your reply must be of the form 'ANSWER: X', where X is one of {letters}.

{question}

{options}"""

GRAMMAR = r"""root ::= reasoning "\nANSWER: " [A-{last}]
reasoning ::= ([^A\n *] | "A" [^N\n]) [^\n]{{0,{longest}}}"""
"""Reasoning cannot begin as an answer line does: a model that is made to answer twice contradicts itself."""
LONGEST = 200
"""Characters of reasoning that the grammar allows: about 50 tokens."""


@solver
def ask(seed: int = 0, brief: bool = False, grammar: bool = False) -> Solver:
    """Ask one question once, with its options in the order that the schedule gives this epoch.

    Args:
        seed: of the schedule and of every generation.
        brief: ask for one or two sentences of reasoning instead of step-by-step reasoning.
        grammar: hold a llama.cpp server to one line of reasoning and a valid answer line.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        options = [choice.value for choice in state.choices]
        question = str(state.sample_id)
        shown = order(seed, question, state.epoch, len(options))
        state.metadata[ORDER] = "".join(map(letter, shown))
        state.messages = [ChatMessageUser(content=prompt(state.input_text, [options[i] for i in shown], brief))]
        body: dict[str, Any] = {"extra_body": {"grammar": gbnf(len(options))}} if grammar else {}
        # Never from a cache: an answer that is read back would be the same vote counted twice.
        return await generate(
            state,
            tool_calls="none",
            cache=False,
            seed=generation_seed(seed, question, state.epoch, str(state.model)),
            **body,
        )

    return solve


def prompt(question: str, options: list[str], brief: bool = False) -> str:
    """Put a question as the model sees it."""
    letters = [letter(index) for index in range(len(options))]
    listed = "\n".join(f"{name}) {option}" for name, option in zip(letters, options, strict=True))
    think = BRIEF if brief else FULL
    return PROMPT.format(think=think, letters=", ".join(letters), question=question.strip(), options=listed)


def gbnf(options: int) -> str:
    """Write the grammar (GBNF, which llama.cpp reads) of one line of reasoning and an answer line."""
    return GRAMMAR.format(last=letter(options - 1), longest=LONGEST)


def generation_seed(seed: int, question: str, epoch: int, model: str) -> int:
    """Give every sample a seed of its own (31 bits), the same in every run."""
    key = json.dumps([seed, question, epoch, model]).encode()
    return int.from_bytes(blake2b(key, digest_size=4).digest()) >> 1
