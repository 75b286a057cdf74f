"""The search over members: bounds that hold, nothing lost by pruning, honest when stopped."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from importlib import import_module
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from hypothesis import given

import swaplaw as sl
from swaplaw.panels.panel import oriented
from swaplaw.panels.search import reach, shared

from support.commands import Run
from support.corpora import corpora
from support.panel_twin import tally_of
from support.twin import Corpus

KEYS = ("dataset", "members", "weights", "accuracy", "lift", "ceiling", "certified", "gap", "fragile", "held_out")


def fingerprint(found: sl.panels.PanelSearch) -> list[tuple[object, ...]]:
    return [(one.panel.members, one.best, one.plateau, one.certified) for one in found.panels]


@given(case=corpora(models=4, questions=6, missing=False))
def test_bounds_hold(case: Corpus) -> None:
    tally = tally_of(case)
    bounds = reach(tally)
    for size in (2, 3):
        for members in combinations(range(4), size):
            found = sl.panels.certify(oriented(tally, members))
            assert found.best.accuracy <= bounds.bound(members) <= bounds.fleet_bound(size)


@given(case=corpora(models=4, questions=6, missing=True))
def test_pruning_changes_nothing(case: Corpus) -> None:
    tally = tally_of(case)
    for top in (1, 2):
        pruned, whole = sl.panels.best_panels(tally, 3, top=top), sl.panels.best_panels(tally, 3, top=top, prune=False)
        assert fingerprint(pruned) == fingerprint(whole)
        assert pruned.certified
        assert pruned.searched + pruned.cut + pruned.pruned == pruned.of == 4
        assert pruned.questions + pruned.dropped == len(tally.questions)


def test_every_trio_of_the_real_votes_is_certified_and_never_below_the_grid() -> None:
    found = sl.panels.best_panels(sl.demo_votes().tally(), 3, top=None)
    assert (len(found.panels), found.of, found.certified) == (84, 84, True)
    for one in found.panels:
        assert one.certified
        assert one.panel.at(one.best.weights).accuracy == one.best.accuracy
        grid = sl.panels.grid_search(one.panel)
        assert one.panel.at(grid.weights).accuracy == grid.accuracy <= one.best.accuracy
    accuracies = [one.best.accuracy for one in found.panels]
    assert accuracies == sorted(accuracies, reverse=True)


def test_the_best_of_the_real_votes_are_the_same_without_pruning() -> None:
    tally = sl.demo_votes().tally()
    pruned, whole = sl.panels.best_panels(tally, 3, top=3), sl.panels.best_panels(tally, 3, top=3, prune=False)
    assert fingerprint(pruned) == fingerprint(whole)
    assert pruned.pruned > 0 == whole.pruned


def test_panels_of_two_are_the_curves_of_all_pairs() -> None:
    tally = sl.demo_votes().tally()
    found = {one.panel.members: one for one in sl.panels.best_panels(tally, 2, top=None).panels}
    for curve in sl.law.curves(tally):
        one = found.pop((curve.primary, curve.secondary))
        assert one.certified
        assert (one.lift, one.best.weights[1]) == (curve.best_lift.lift, curve.best_lift.weight)
        assert one.best.fragile == curve.best_lift.fragile
        assert one.plateau is not None
        assert one.plateau.weights[1] == curve.best_plateau.weight
    assert not found


@cache
def read(file: Path) -> sl.Tally:
    return sl.read_votes(file).tally()


@pytest.fixture
def mmlu_pro(shared_votes: Path) -> sl.Tally:
    return read(shared_votes / "mmlu-pro.parquet")


def test_the_best_trio_of_29_models_is_proven_with_most_panels_pruned(mmlu_pro: sl.Tally) -> None:
    found = sl.panels.best_panels(mmlu_pro, 3, top=1)
    assert (found.of, found.certified, found.complete) == (3654, True, True)
    assert found.share_pruned > 0.9
    best = found.panels[0]
    assert best.certified
    assert best.panel.at(best.best.weights).accuracy == best.best.accuracy == found.bound
    assert best.best.accuracy >= sl.panels.grid_search(best.panel).accuracy


@pytest.mark.slow
def test_the_best_trio_of_29_models_is_the_same_without_pruning(mmlu_pro: sl.Tally) -> None:
    pruned, whole = sl.panels.best_panels(mmlu_pro, 3, top=1), sl.panels.best_panels(mmlu_pro, 3, top=1, prune=False)
    assert fingerprint(pruned) == fingerprint(whole)
    every = sl.panels.best_panels(mmlu_pro, 3, top=None)
    assert len(every.panels) == 3654
    assert every.panels[0].best == pruned.panels[0].best


def test_stopping_gives_the_best_so_far_and_a_bound() -> None:
    tally = sl.demo_votes().tally()
    whole = sl.panels.best_panels(tally, 3, top=1)

    def stop(done: int, of: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    stopped = sl.panels.best_panels(tally, 3, top=2, progress=stop)
    assert not stopped.complete
    assert len(stopped.panels) == 2
    assert stopped.searched + stopped.cut == 5
    assert stopped.panels[0].best.accuracy <= whole.panels[0].best.accuracy <= stopped.bound
    late = sl.panels.best_panels(tally, 3, work=0)
    assert late.panels
    assert not late.complete
    assert not late.certified
    assert late.panels[0].best.accuracy <= whole.panels[0].best.accuracy <= late.bound
    assert late.gap == late.bound - late.panels[0].best.accuracy


def test_a_bound_on_work_stops_the_search_alike_every_time() -> None:
    tally = sl.demo_votes().tally()
    whole = sl.panels.best_panels(tally, 3, top=2)
    for effort in (1e3, 3e5):
        found = [sl.panels.best_panels(tally, 3, top=2, work=effort, workers=workers) for workers in (1, 2)]
        assert fingerprint(found[0]) == fingerprint(found[1])
        assert found[0].to_dict() == found[1].to_dict()
        assert not found[0].complete
        assert found[0].panels[0].best.accuracy <= whole.panels[0].best.accuracy <= found[0].bound
    assert fingerprint(sl.panels.best_panels(tally, 3, top=2, work=1e9)) == fingerprint(whole)


def test_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []
    sl.panels.best_panels(sl.demo_votes().tally(), 2, top=1, progress=lambda done, of: seen.append((done, of)))
    assert seen[0] == (0, 36)
    assert all(before[0] <= after[0] for before, after in pairwise(seen))


def test_large_fleets_are_searched_greedily_with_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    tally = sl.demo_votes().tally()
    best = sl.panels.best_panels(tally, 3, top=1)
    monkeypatch.setattr(import_module("swaplaw.panels.search"), "LARGEST_SEARCH", 10)
    greedy = sl.panels.best_panels(tally, 3, top=4)
    assert greedy.greedy
    assert not greedy.complete
    assert len(greedy.panels) == 4
    assert len({one.panel.members for one in greedy.panels}) == 4
    assert greedy.panels[0].best.accuracy <= best.panels[0].best.accuracy <= greedy.bound
    # It starts from the most accurate model, and so never falls below it.
    assert all("gpt-4" in one.panel.members for one in greedy.panels)


def test_panels_are_compared_on_questions_that_all_models_answered() -> None:
    ballots: dict[str, dict[str, Counter[str | None]]] = {
        "aa": {"q": Counter("A"), "r": Counter("A"), "s": Counter("B")},
        "bb": {"q": Counter("A"), "r": Counter("B"), "s": Counter("A")},
        "cc": {"q": Counter("B"), "r": Counter("A")},
        "dd": {"q": Counter("B"), "r": Counter("B"), "s": Counter("A")},
    }
    case = Corpus(ballots, dict.fromkeys("qrs", "A"))
    found = sl.panels.best_panels(tally_of(case), 3, top=None)
    assert (found.questions, found.dropped) == (2, 1)
    assert {one.panel.n for one in found.panels} == {2}
    # A panel by itself is analysed on all questions that its own members answered.
    assert sl.panel(tally_of(case), ["aa", "bb", "dd"]).n == 3
    apart = Corpus({"aa": {"q": Counter("A")}, "bb": {"r": Counter("A")}, "cc": ballots["cc"]}, {"q": "A", "r": "A"})
    with pytest.raises(sl.InputError, match="no question of dataset 'votes' was answered by all 3 models"):
        shared(tally_of(apart))
    with pytest.raises(sl.InputError, match="have no question in common"):
        sl.panel(tally_of(apart), ["aa", "bb"])


def test_impossible_sizes_are_answered_clearly() -> None:
    tally = sl.demo_votes().tally()
    for size in (-1, 0, 1, 10):
        with pytest.raises(sl.InputError, match=f"a panel of {size} from a fleet of 9 .*: give a size of 2 to 8"):
            sl.panels.best_panels(tally, size)
    with pytest.raises(sl.InputError, match="only one model"):
        sl.panels.best_panels(tally.select(models=["gpt-4"]), 2)
    with pytest.raises(sl.InputError, match="ask for 1 or more"):
        sl.panels.best_panels(tally, 3, top=0)
    with pytest.raises(sl.InputError, match="work -1"):
        sl.panels.best_panels(tally, 3, work=-1)


def test_held_out_weights_are_chosen_on_other_questions() -> None:
    tally = sl.demo_votes().tally()
    chosen = sl.panel(tally, ["gpt-4", "claude-3-opus-20240229", "gemini-1.5-pro-preview-0409"])
    found = sl.decide.held_out_panel(chosen, seed=1)
    assert found is not None
    assert found == sl.decide.held_out_panel(chosen, seed=1)
    certificate = sl.panels.certify(chosen)
    assert found.accuracy < certificate.best.accuracy
    assert (found.folds, found.repeats) == (5, 2)
    one = Corpus({name: {"q": Counter("A")} for name in ("aa", "bb", "cc")}, {"q": "A"})
    assert sl.decide.held_out_panel(sl.panel(tally_of(one), ["aa", "bb", "cc"])) is None


def test_command_prints_the_panels_of_the_design(swaplaw: Run) -> None:
    done = swaplaw("panel", "demo", "--size", "3", "--top", "2", "--folds", "3", "--repeats", "1", "--json")
    assert done.code == 0
    document = json.loads(done.out)
    assert len(document["panels"]) == 2
    for one in document["panels"]:
        assert {*KEYS} <= {*one}
        assert one["dataset"] == "renze-temperature"
        assert len(one["members"]) == len(one["weights"]) == 3
        assert one["weights"][0] == "1"
        assert (one["certified"], one["gap"], one["n"], one["of"]) == (True, 0, 100, 100)
        assert one["held_out"]["accuracy"] <= one["accuracy"]
        outcome = sl.panel(sl.demo_votes().tally(), one["members"]).at(one["weights"])
        assert outcome.members == tuple(one["members"])
        assert (float(outcome.accuracy), float(outcome.lift)) == (one["accuracy"], one["lift"])
    held_out = [one["held_out"]["accuracy"] for one in document["panels"]]
    assert held_out == sorted(held_out, reverse=True)
    (search,) = document["search"]
    assert (search["dataset"], search["of"]) == ("renze-temperature", 84)
    assert 0 < search["share_pruned"] < 1


def test_command_shows_one_panel_in_full(swaplaw: Run) -> None:
    members = "gpt-4,mistral-large,gpt-35-turbo"
    done = swaplaw("panel", "demo", "--members", members, "--folds", "0", "--json")
    (one,) = json.loads(done.out)["panels"]
    assert {*one["members"]} == {*members.split(",")}
    assert len(one["cells"]) == 8
    assert abs(sum(cell["contribution"] for cell in one["cells"]) - one["lift"]) < 1e-12
    assert {*one["marginals"]} == {*one["members"]}
    assert one["held_out"] is None
    text = swaplaw("panel", "demo", "--members", "gpt-4", "--members", "mistral-large", "--folds", "0").out
    assert "Lift, cell by cell" in text
    assert "Lost without it" in text


def test_command_gives_the_grid_and_its_distance(swaplaw: Run) -> None:
    grid = json.loads(swaplaw("panel", "demo", "--grid", "--top", "4", "--json").out)["panels"]
    best = json.loads(swaplaw("panel", "demo", "--top", "4", "--folds", "0", "--json").out)["panels"]
    proven = {tuple(one["members"]): one["accuracy"] for one in best}
    for one in grid:
        assert abs(one["accuracy"] + one["gap"] - proven[tuple(one["members"])]) < 1e-12
        assert one["certified"] == (one["gap"] == 0)
        assert all(sl.law.as_weight(weight) in (0, 1, *sl.law.PAPER_GRID) for weight in one["weights"])


def test_command_with_no_work_says_how_far_it_may_be_off(swaplaw: Run) -> None:
    document = json.loads(swaplaw("panel", "demo", "--work", "0", "--folds", "0", "--json").out)
    (search,) = document["search"]
    assert search["complete"] is False
    assert search["gap"] > 0
    assert "pp better than the best of these" in swaplaw("panel", "demo", "--work", "0", "--folds", "0").out


def test_command_takes_every_dataset_on_its_own(swaplaw: Run, tmp_path: Path) -> None:
    file = tmp_path / "two.csv"
    votes = [
        f"{name},{q},{model},{answer},A"
        for name in "ab"
        for q in "12"
        for model, answer in zip("xyz", "ABA", strict=True)
    ]
    file.write_text("\n".join(["dataset,question,model,answer,gold", *votes]))
    document = json.loads(swaplaw("panel", file, "--without", "y", "--size", "2", "--json").out)
    assert [one["dataset"] for one in document["panels"]] == ["a", "b"]
    assert [one["members"] for one in document["panels"]] == [["x", "z"]] * 2
    assert [one["dataset"] for one in document["search"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "10"], "a panel of 10 from a fleet of 9"),
        (["--size", "1"], "give a size of 2 to 8"),
        (["--members", "gpt-4,gpt-4,mistral-large"], "'gpt-4' is in the panel more than once"),
        (["--members", "gpt-4,nobody"], "there is no model 'nobody'"),
        (["--members", "gpt-4"], "name 2 to 8 members"),
        (["--work", "-1"], "work -1.0 is not a number of planes"),
        (["--folds", "1"], "1 folds leave nothing to hold out"),
    ],
)
def test_command_answers_misuse_in_one_line(swaplaw: Run, arguments: list[str], message: str) -> None:
    done = swaplaw("panel", "demo", *arguments)
    assert done.code == 2
    assert done.out == ""
    assert message in done.err
    assert done.err.count("\n") == 1
