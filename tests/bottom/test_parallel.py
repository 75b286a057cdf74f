from __future__ import annotations

import os
import shlex
import signal
import socket
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import swaplaw as sl
from swaplaw._parallel import ALONE, LARGEST_SHARE, Crew, executor_at
from swaplaw.cli.render import doubts_on_stderr
from swaplaw.errors import LostWorkerWarning, MissingExtraError
from swaplaw.law.curve import _curves_at
from swaplaw.law.pair import places_of_pairs

from support.commands import Run
from support.corpora import corpora
from support.crews import PAGE, alone, curve_bytes, documented, everything, fleet
from support.pages import DOCS, blocks
from support.twin import Corpus

pytestmark = [
    pytest.mark.filterwarnings("ignore:only 6 clusters:swaplaw.errors.StatisticalWarning"),
    # Clusters leave processes, sockets and loops to their own threads, which end when they do.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.mark.parametrize("workers", [2, 3])
def test_the_same_bytes_whatever_the_number_of_processes(workers: int) -> None:
    assert everything(workers=workers) == alone()


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(corpora(models=4, questions=6))
def test_curves_of_any_corpus(case: Corpus) -> None:
    tally = sl.votes_from(case.frame()).tally()
    assert curve_bytes(sl.law.curves(tally, workers=2)) == curve_bytes(sl.law.curves(tally))


@given(st.integers(0, 5_000))
def test_split_leaves_nothing_out(number: int) -> None:
    shares = ALONE.split(range(number))
    assert [each for share in shares for each in share] == list(range(number))
    assert max(map(len, shares), default=0) <= LARGEST_SHARE


def killed_in_the_middle(crew: Crew, flag: Path) -> bytes:
    """All curves, from workers one of which kills itself when it comes to a certain pair."""

    def work(data: Any, places: Sequence[tuple[int, int]]) -> Any:
        if (1, 2) in places and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return _curves_at(data, places)

    shares = list(crew.share(work, fleet(), crew.split(places_of_pairs(fleet()))))
    assert flag.exists()
    return curve_bytes(curve for share in shares for curve in share)


def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    with pytest.warns(LostWorkerWarning, match="a worker was lost .* done again"):
        assert killed_in_the_middle(Crew(2), tmp_path / "killed") == alone()["curves"]


def test_a_share_that_kills_every_worker_ends_with_one_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swaplaw._parallel.ROUNDS", 2)

    def work(_: Any, share: int) -> int:
        if share == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return share

    with (
        pytest.warns(LostWorkerWarning),
        pytest.raises(sl.errors.SwaplawError, match=r"workers were lost 2 times .* fewer workers"),
    ):
        list(Crew(2).share(work, None, range(3)))


def test_an_error_of_the_work_itself_is_raised_once(tmp_path: Path) -> None:
    file = str(tmp_path / "tries")

    def work(_: Any, share: int) -> int:
        if share == 2:
            with Path(file).open("a") as tries:
                tries.write("x")
            raise sl.InputError("votes are missing")
        return share

    with pytest.raises(sl.InputError, match="votes are missing") as raised:
        list(Crew(2).share(work, None, range(5)))
    assert Path(file).read_text() == "x"
    assert "in work" in raised.value.__notes__[0]


def test_processes_open_the_data_once_and_send_none_of_it_back() -> None:
    tally = fleet()

    def work(data: Any, share: int) -> tuple[int, int, Any]:
        return os.getpid(), id(data), (share, data)

    found = list(Crew(2).share(work, tally, range(12)))
    assert len({(pid, place) for pid, place, _ in found}) == len({pid for pid, *_ in found})
    assert os.getpid() not in {pid for pid, *_ in found}
    assert [back for *_, (back, _) in found] == list(range(12))
    assert all(data is tally for *_, (_, data) in found)
    panels = sl.panels.best_panels(tally, 3, top=2, workers=2).panels
    assert all(one.panel.tally is tally for one in panels)


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_says_the_same(pool: Any) -> None:
    with pool(2) as executor:
        assert curve_bytes(sl.law.curves(fleet(), workers=executor)) == alone()["curves"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("kind", ["dask", "ray"])
def test_a_cluster_says_the_same_and_a_killed_worker_loses_nothing(kind: str, tmp_path: Path) -> None:
    executor = executor_at(kind)
    assert curve_bytes(sl.law.curves(fleet(), workers=executor)) == alone()["curves"]
    assert killed_in_the_middle(Crew(executor), tmp_path / "killed") == alone()["curves"]


def test_progress_sees_every_share_end() -> None:
    seen = []

    def progress(shares: Sequence[Any]) -> Iterator[Any]:
        for share in shares:
            seen.append(share)
            yield share
        seen.append(None)

    assert list(Crew(2).share(_double, None, [3, 1, 2], progress=progress)) == [6, 2, 4]
    assert seen == [3, 1, 2, None]


def _double(_: None, share: int) -> int:
    return 2 * share


@pytest.mark.parametrize(
    ("crew", "words"),
    [
        ({"workers": 0}, "0 workers can do no work: give 1"),
        ({"workers": -2}, "-2 workers"),
        ({"workers": True}, "workers is True: give a whole number"),
        ({"workers": 1.5}, "workers is 1.5: give a whole number"),
        ({"workers": "many"}, "workers is 'many': give a whole number, 1 or more, or an executor"),
    ],
)
def test_what_makes_no_crew(crew: dict[str, Any], words: str) -> None:
    for function in (sl.panels.best_panels, sl.recommend):
        with pytest.raises(sl.InputError, match=words):
            function(fleet(), **crew)
    with pytest.raises(sl.InputError, match=words):
        sl.law.curves(fleet(), **crew)


@pytest.mark.parametrize(("kind", "package"), [("dask", "distributed"), ("ray", "ray")])
def test_a_cluster_without_its_extra(kind: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"pip install 'swaplaw\[{kind}\]'"):
        executor_at(kind)


def unused_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def test_a_cluster_that_does_not_answer(swaplaw: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("swaplaw._parallel.PATIENCE", 1)
    address = f"tcp://127.0.0.1:{unused_port()}"
    found = swaplaw("panel", "demo", "--cluster", address)
    assert found.code == 2
    assert len(found.err.splitlines()) == 1
    assert f"no Dask cluster with workers answers at '{address}'" in found.err
    assert "check the address" in found.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--workers", "0"], "0 workers can do no work"),
        (["--workers", "some"], "'some' is not a valid integer"),
        (["--cluster", "dask", "--workers", "2"], "give one of them"),
    ],
)
@pytest.mark.parametrize("command", ["panel", "combine", "recommend"])
def test_bad_options(command: str, options: list[str], words: str, swaplaw: Run) -> None:
    found = swaplaw(command, "demo", *options)
    assert found.code == 2
    assert words in found.err


def test_commands_say_the_same_with_workers(swaplaw: Run) -> None:
    for command in (
        ["panel", "demo", "--top", "2", "--folds", "2", "--repeats", "1"],
        ["recommend", "demo", "--folds", "2", "--repeats", "1"],
    ):
        once, shared = swaplaw(*command, "--json"), swaplaw(*command, "--json", "--workers", "2")
        assert (shared.code, shared.out) == (0, once.out)


def test_the_page_about_scale_runs(swaplaw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    monkeypatch.chdir(tmp_path)
    lines = [line for line in documented("swaplaw") if "--cluster" not in line]
    assert len(lines) > 2
    for line in lines:
        assert swaplaw(*shlex.split(line)[1:]).code == 0
    for block in blocks(PAGE, "python"):
        exec(compile(block, str(PAGE), "exec"), {})


def test_a_lost_worker_is_one_line_on_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    with doubts_on_stderr():
        warnings.warn("a worker was lost", LostWorkerWarning, stacklevel=1)
    assert capsys.readouterr().err == "swaplaw: note: a worker was lost\n"
