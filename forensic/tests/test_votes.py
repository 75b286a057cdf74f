"""Traces to votes: the paper's construction, abstentions, gold-free categories, and the table that the law reads."""

from pathlib import Path

import pytest

import swaplaw as sl
from swaplaw.errors import InputError, SwaplawError
from swaplaw_forensic.agent.traces import Trace
from swaplaw_forensic.grading.tables import dependence
from swaplaw_forensic.grading.votes import Graded, Key, Vote, grade_traces, to_judge, without_gold, write_votes

MANIFEST = """
id = "mine"
title = "Mine"
kind = "real"
licence = "mine"
obtain = "Ask me."
prompt = "Look."
evidence = []
[[questions]]
id = "name"
text = "Who?"
type = "text"
tier = "normalised"
[[questions]]
id = "when"
text = "When?"
type = "time"
tier = "time"
[[questions]]
id = "why"
text = "Why?"
type = "report"
tier = "rubric"
[[questions]]
id = "draw"
text = "Draw."
type = "report"
tier = "rubric"
"""
GOLD = """
challenge = "mine"
[answers.name]
accept = ["Jeremy", "Jeremy Smith"]
[answers.when]
accept = ["2015-03-25T15:31:05Z"]
zones = ["-04:00", "UTC"]
[answers.why]
rubric = "Greed."
[answers.draw]
ungradeable = "a drawing"
"""


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "challenge.toml").write_text(MANIFEST)
    (tmp_path / "gold.toml").write_text(GOLD)
    return str(tmp_path)


def trace(folder: str, sample: int, answers: dict[str, str], model: str = "m", ended: str = "finish") -> Trace:
    return Trace(model, "mine", folder, ("name", "when", "why", "draw"), answers, ended, 400, sample)


def graded(traces: list[Trace], outcomes: dict[tuple[str, str, str], bool | None] | None = None) -> Graded:
    return grade_traces(traces, Key(traces), outcomes)


def one(votes: list[Vote], question: str, sample: int = 0) -> Vote:
    (vote,) = [vote for vote in votes if (vote.question, vote.sample) == (question, sample)]
    return vote


def test_correct_answers_share_the_gold_category_and_wrong_ones_their_normal_form(folder: str) -> None:
    traces = [
        trace(folder, n, {"name": name})
        for n, name in enumerate(["jeremy", "Jeremy Smith", "Gary!", "gary", "unknown", "..."])
    ]
    votes = [vote for vote in graded(traces).votes if vote.question == "name"]
    assert [vote.answer for vote in votes] == ["Jeremy", "Jeremy", "gary", "gary", None, None]
    assert [vote.correct for vote in votes] == [True, True, False, False, False, False]
    assert [vote.reason for vote in votes] == [None, None, None, None, "unknown", "no_parse"]
    assert [vote.gold_free for vote in votes] == ["jeremy", "jeremy smith", "gary", "gary", None, None]
    assert {vote.cluster for vote in votes} == {"mine"}
    assert {vote.tokens for vote in votes} == {100.0}


def test_open_questions_abstain_and_a_cut_trace_keeps_what_was_submitted(folder: str) -> None:
    traces = [
        trace(folder, 0, {"name": "Jeremy"}, ended="message"),
        trace(folder, 1, {}),
        trace(folder, 2, {"name": "Jeremy"}, ended="error"),
    ]
    votes = graded(traces).votes
    assert one(votes, "name").correct
    assert one(votes, "name").ended == "message"
    assert (one(votes, "when").answer, one(votes, "when").reason) == (None, "unanswered")
    assert one(votes, "name", 1).reason == "unanswered"
    assert one(votes, "name", 2).correct
    assert one(votes, "when", 2).reason == "error"


def test_rubric_answers_need_a_verdict_and_ungradeable_ones_are_left_out(folder: str) -> None:
    traces = [trace(folder, 0, {"why": "Greed", "draw": "o"}), trace(folder, 1, {"why": "Love"})]
    assert [item.answer for item in to_judge(traces, Key(traces))] == ["Greed", "Love"]
    without = graded(traces)
    assert without.without_rubric == ["why"]
    assert without.ungradeable == {"draw": "a drawing"}
    assert {vote.question for vote in without.votes} == {"name", "when"}
    judged = graded(traces, {("mine", "why", "Greed"): True, ("mine", "why", "Love"): None}).votes
    assert [one(judged, "why", n).correct for n in (0, 1)] == [True, False]
    assert "no verdict" in one(judged, "why", 1).why
    assert (one(judged, "why", 1).answer, one(judged, "why", 1).reason) == (None, "judge")


def test_the_table_reads_back_and_runs_through_the_law(folder: str, tmp_path: Path) -> None:
    late = "2015-03-25 15:31:05 UTC"
    good = [trace(folder, n, {"name": "Jeremy", "when": late}, "good") for n in range(3)]
    weak = [trace(folder, n, {"name": "Gary", "when": late if n else "?"}, "weak") for n in range(3)]
    votes = graded(good + weak).votes
    file = tmp_path / "out" / "votes.parquet"
    write_votes([vars(vote) for vote in votes], file)
    read = sl.read_votes(file)
    (pair,) = sl.pairs(read.tally())
    assert (pair.primary, pair.secondary) == ("good", "weak")
    fleet = {row.model: row for row in sl.summary(read.tally())}
    assert (fleet["good"].plurality, fleet["weak"].plurality) == (sl.law.as_weight("1"), sl.law.as_weight("1/2"))
    assert fleet["weak"].reasons == {"no_parse": sl.law.as_weight("1/6")}
    assert [path.name for path in file.parent.iterdir()] == ["votes.parquet"]


def test_a_place_that_cannot_be_written_is_one_message(folder: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    votes = graded([trace(folder, 0, {"name": "Jeremy"})]).votes
    with pytest.raises(SwaplawError, match="cannot write votes to"):
        write_votes([vars(vote) for vote in votes], tmp_path / "file" / "votes.parquet")


def test_dependence_on_the_oracle_is_measured(folder: str, tmp_path: Path) -> None:
    """Three right answers in three forms lose to two wrong ones in one form, unless the gold joins them."""
    names = ["Jeremy", "Jeremy Smith", "Gary", "Gary"]
    votes = graded([trace(folder, n, {"name": x}) for n, x in enumerate(names)]).votes
    named = [vote for vote in votes if vote.question == "name"]
    (row,) = dependence(named)
    assert (row["oracle"], row["gold_free"]) == (0.5, 0.0)
    rows = [row for row in without_gold(votes) if row["question"] == "name"]
    assert [row["answer"] for row in rows] == ["jeremy", "jeremy smith", "gary", "gary"]
    assert [row["correct"] for row in rows] == [True, False, False, False]
    write_votes(without_gold(votes), tmp_path / "free.parquet")
    assert sl.read_votes(tmp_path / "free.parquet").tally().models


def test_zones_without_gold_stay_apart(folder: str) -> None:
    """A clock without zone is right by the gold's zones, but a deployment cannot know that."""
    times = ["2015-03-25 15:31:05 UTC", "2015-03-25 11:31:05 EDT", "2015-03-25 11:31:05"]
    votes = [
        v for v in graded([trace(folder, n, {"when": t}) for n, t in enumerate(times)]).votes if v.question == "when"
    ]
    assert [vote.correct for vote in votes] == [True] * 3
    assert [vote.gold_free for vote in votes] == ["2015-03-25T15:31:05Z", "2015-03-25T15:31:05Z", "2015-03-25T11:31:05"]


def test_a_log_of_another_version_is_refused(folder: str) -> None:
    old = Trace("m", "mine", folder, ("name", "gone"), {}, "finish", 0, 0)
    with pytest.raises(InputError, match="no longer has"):
        graded([old])
