"""Fixtures for the tests of swaplaw and of swaplaw-forensic."""

from __future__ import annotations

import gc
import importlib.metadata
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import settings

from swaplaw.cli import main

from support.commands import Finished
from support.data import real_votes

pytest_plugins = ["testbed.fixtures"]

# For every run of a task, Inspect looks through all installed packages for the one that the task is of.
importlib.metadata.packages_distributions = cache(importlib.metadata.packages_distributions)

# Few examples with every change; `python scripts/test.py -n auto --hypothesis-profile thorough` before a release.
settings.register_profile("quick", max_examples=30, deadline=None)
settings.register_profile("thorough", max_examples=300, deadline=None)
settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let all tests of a module or folder that share a fixture run in one process, so that it is made once."""
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
        scopes = {fixture.scope for definitions in fixtures for fixture in definitions}
        if "package" in scopes:
            item.add_marker(pytest.mark.xdist_group(item.path.parent.name))
        elif "module" in scopes:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through everything that tests imported, again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def swaplaw(capsys: pytest.CaptureFixture[str]) -> Callable[..., Finished]:
    """Run the command line in this process."""

    def run(*arguments: str | Path) -> Finished:
        with pytest.raises(SystemExit) as stopped:
            main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Finished(stopped.value.code, printed.out, printed.err)

    return run


@pytest.fixture
def shared_votes() -> Path:
    """The folder of the real vote tables."""
    return real_votes()


@pytest.fixture
def leave_nothing_open() -> Iterator[None]:
    """Inspect leaves connections and streams to the garbage collector, which warns: let it do so here."""
    yield
    gc.collect()
