"""What every part that runs Inspect shares: that it is there, its errors as one line, its display off stdout."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Literal

from swaplaw._parallel import busy
from swaplaw.errors import InputError, MissingExtraError, SwaplawError


def need_inspect(purpose: str) -> None:
    """Fail early, and with the command that fixes it; else load it, which takes seconds."""
    if find_spec("inspect_ai") is None:
        raise MissingExtraError("collect", purpose)
    with busy("Loading Inspect"):
        import_module("inspect_ai")


@contextlib.contextmanager
def inspect_errors() -> Iterator[None]:
    """Turn Inspect's own user-facing errors into ours: one line, no markup, no traceback."""
    from inspect_ai._util.error import PrerequisiteError
    from rich.text import Text

    _start_quietly()
    try:
        yield
    except SwaplawError:
        raise
    except PrerequisiteError as error:
        raise InputError(Text.from_markup(str(error.message)).plain.removeprefix("ERROR: ")) from None
    except ValueError as error:
        if not str(error).startswith(("Model API", "Model name")):
            raise
        raise InputError(f"{error} Inspect's model names start with their provider, such as openai/NAME") from None


@lru_cache
def _start_quietly() -> None:
    """Let Inspect greet nobody for our own hook, which is off until a collection runs; of others' hooks it may tell."""
    said = io.StringIO()
    with contextlib.suppress(ImportError), contextlib.redirect_stdout(said):
        from inspect_ai.hooks._startup import init_hooks

        init_hooks()
    if "hooks enabled: 0" not in said.getvalue():
        sys.stderr.write(said.getvalue())


@contextlib.contextmanager
def errors_for_inspect() -> Iterator[None]:
    """Turn our errors into what Inspect shows as one line; it reads markup in them, and they hold none."""
    from inspect_ai._util.error import PrerequisiteError
    from rich.markup import escape

    try:
        yield
    except SwaplawError as error:
        raise PrerequisiteError(escape(str(error))) from None


@contextlib.contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Keep stdout for our table or JSON: Inspect shows its progress there."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def display(quiet: bool) -> Literal["none", "rich"]:
    """How Inspect shows its progress: on a terminal only."""
    return "none" if quiet or not sys.stderr.isatty() else "rich"
