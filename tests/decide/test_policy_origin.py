"""A policy is signed with how the votes came about that it was judged on, as their files record it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import swaplaw as sl
from swaplaw.answers import Reader
from swaplaw.decide.policy import read_policy
from swaplaw.importers.inspect.answers import SampleRow
from swaplaw.importers.inspect.logs import Readers
from swaplaw.importers.reading import import_votes
from swaplaw.importers.record import Options
from swaplaw.serve.settings import served_from
from swaplaw.votes.provenance import agreed

from support.commands import Finished
from support.data import DATA

REPLIES = {"A": "The answer is A.", "B": "I would choose B, not A.", "C": "Hard to say."}


@pytest.fixture
def replies(tmp_path: Path) -> Path:
    """Whole replies of two models, as a table."""
    rows = [
        {"question": f"q{n}", "model": model, "sample": sample, "answer": REPLIES["ABC"[(n * (m + 2) + sample) % 3]]}
        | {"gold": "AB"[n % 2], "temperature": 0.7}
        for n in range(30)
        for m, model in enumerate(("x", "y"))
        for sample in range(3)
    ]
    pl.DataFrame(rows).write_csv(tmp_path / "replies.csv")
    return tmp_path / "replies.csv"


def recommended(swaplaw: Callable[..., Finished], *words: str, folder: Path) -> Any:
    done = swaplaw("recommend", *words, "--repeats", "1", "-o", str(folder / "policy.json"))
    assert done.code == 0, done.err
    return read_policy(folder / "policy.json")


def test_a_recommended_policy_is_read_as_its_votes_were(
    replies: Path, swaplaw: Callable[..., Finished], tmp_path: Path
) -> None:
    votes = tmp_path / "votes.parquet"
    assert swaplaw("import", str(replies), "--read", "choice", "-o", str(votes)).code == 0
    policy = recommended(swaplaw, str(votes), folder=tmp_path)
    assert policy.voting.reader == Reader("choice").to_dict()
    assert policy.voting.temperature == 0.7
    upstreams = {member.model: {"base_url": "http://127.0.0.1:1"} for member in policy.members}
    document = json.loads((tmp_path / "policy.json").read_text()) | {"serving": {"upstreams": upstreams}}
    (tmp_path / "served.json").write_text(json.dumps(document))
    served = served_from(read_policy(tmp_path / "served.json"), "pool")
    assert [served.reader.read(reply) for reply in REPLIES.values()] == ["A", "B", None]
    document["voting"]["reader"]["labels"] = ["A", "B"]
    (tmp_path / "served.json").write_text(json.dumps(document))
    with pytest.raises(sl.InputError, match="changed after it was written"):
        read_policy(tmp_path / "served.json")


def test_replies_that_a_command_reads_itself_sign_their_reader_too(
    replies: Path, swaplaw: Callable[..., Finished], tmp_path: Path
) -> None:
    words = ("--pattern", "([AB])", "--canonical", "text")
    policy = recommended(swaplaw, str(replies), *words, folder=tmp_path)
    reader = Reader.from_dict(policy.voting.reader)
    assert (reader.kind, reader.pattern) == ("regex", "([AB])")
    assert tuple(reader.canonical or ())[-1] == "text"  # The form that the command spelt answers in.


def test_votes_of_unknown_origin_sign_nothing(swaplaw: Callable[..., Finished], tmp_path: Path) -> None:
    policy = recommended(swaplaw, "demo", folder=tmp_path)
    assert set(policy.voting.to_dict()) <= {"threshold"}


def test_sources_that_disagree_say_nothing() -> None:
    one, other = {"reader": {"kind": "choice"}, "truncated": "read"}, {"reader": {"kind": "text"}, "truncated": "read"}
    assert agreed([one, other]) == {"truncated": "read"}
    assert agreed([one, {}]) == {}
    assert agreed([]) == {}


def test_letters_are_read_with_as_many_labels_as_there_are_options() -> None:
    """Completions of this log are read here: its scorer kept no letters."""
    imported = import_votes(DATA / "inspect" / "0.3.285.eval", Options())
    assert imported.provenance["reader"] == Reader.of_options(4).to_dict()


def test_a_scorer_of_its_own_is_no_reader_of_ours() -> None:
    readers = Readers(ours=False)
    readers.see(SampleRow(1, {"answer": "A"}, spoken=True, options=3))
    assert readers.reader == Reader.of_options(3)
    readers.see(SampleRow(1, {"answer": "B"}, spoken=False, options=4))
    assert readers.reader is None
