"""Stratified samples: exact allocation, fixed by seed, and a manifest from which others draw the same questions."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.cli.collect import sample as command
from swaplaw.collect.design import allocate, read_manifest, sample
from swaplaw.collect.questions import Question, Questions
from swaplaw.collect.sources import read_questions
from swaplaw.errors import InputError

from support.question_tables import SUPERGPQA, written

LEVELS = ("easy", "middle", "hard")
# As many questions as SuperGPQA has, in 13 disciplines of very different sizes.
DISCIPLINES = (7892, 6000, 3500, 2755, 2203, 1500, 900, 700, 501, 405, 143, 20, 10)


def dataset(sizes: dict[tuple[str, str], int]) -> Questions:
    items = [
        Question(f"{d}-{level}-{n}", "?", ("x", "y"), n % 2, None, {"discipline": d, "difficulty": level})
        for (d, level), size in sizes.items()
        for n in range(size)
    ]
    return Questions("made", tuple(items), "made.jsonl")


def supergpqa() -> Questions:
    shares = {"easy": 5, "middle": 6, "hard": 4}
    return dataset(
        {
            (f"d{number:02}", level): count
            for number, size in enumerate(DISCIPLINES)
            for (level,), count in allocate(size, {(level,): share for level, share in shares.items()}).items()
            if count
        }
    )


small = st.dictionaries(
    st.tuples(st.sampled_from("abcde"), st.sampled_from(LEVELS)), st.integers(1, 12), min_size=1, max_size=9
)


@given(st.dictionaries(st.tuples(st.text(max_size=3)), st.integers(1, 10**6), min_size=1), st.data())
def test_allocation_is_proportional_to_the_last_question(sizes: dict[tuple[str, ...], int], data: Any) -> None:
    everything = sum(sizes.values())
    total = data.draw(st.integers(0, everything))
    shares = allocate(total, sizes)
    assert sum(shares.values()) == total
    for name, size in sizes.items():
        quota = Fraction(total * size, everything)
        assert abs(shares[name] - quota) < 1
        assert shares[name] <= size
    # Largest remainder: nobody who was rounded up had a smaller remainder than somebody who was rounded down.
    remainders = {name: Fraction(total * size, everything) % 1 for name, size in sizes.items()}
    up = [remainders[name] for name in sizes if shares[name] > Fraction(total * sizes[name], everything)]
    down = [remainders[name] for name in sizes if shares[name] < Fraction(total * sizes[name], everything)]
    assert not up or not down or min(up) >= max(down)


@given(small, st.data())
def test_both_phases_draw_what_they_say(sizes: dict[tuple[str, str], int], data: Any) -> None:
    questions = dataset(sizes)
    size = data.draw(st.integers(1, len(questions)))
    manifest = sample(questions, size, seed=data.draw(st.integers(0, 9)))
    ids = [drawn.id for drawn in manifest.questions]
    assert len(set(ids)) == size == sum(stratum.drawn for stratum in manifest.strata)
    strata = {stratum.values: stratum for stratum in manifest.strata}
    counts = Counter((drawn.stratum, drawn.phase) for drawn in manifest.questions)
    for values, stratum in strata.items():
        assert stratum.population == sizes[values[0], values[1]]
        assert counts[values, "proportional"] == stratum.proportional
        assert counts[values, "stress"] == stratum.stress
        assert stratum.stress == 0 or values[1] == "hard"
        assert stratum.drawn <= stratum.population
    weights = sum((drawn.weight for drawn in manifest.questions), Fraction(0))
    assert weights == sum(stratum.population for stratum in manifest.strata if stratum.drawn)
    in_first = size - sum(stratum.stress for stratum in manifest.strata)
    assert {v: s.proportional for v, s in strata.items()} == allocate(
        in_first, {v: s.population for v, s in strata.items()}
    )


def test_the_papers_sample() -> None:
    questions = supergpqa()
    assert len(questions) == 26529
    manifest = sample(questions, 3000, stress=600, seed=1)
    assert len(manifest.questions) == 3000
    assert sum(stratum.stress for stratum in manifest.strata) == 600
    hard = sum(stratum.drawn for stratum in manifest.strata if stratum.values[1] == "hard") / 3000
    share = sum(stratum.population for stratum in manifest.strata if stratum.values[1] == "hard") / 26529
    assert hard == pytest.approx(0.2 + 0.8 * share, abs=0.002)
    assert sum(stratum.stress for stratum in sample(questions, 3000).strata) == 600  # a fifth by default


def test_neither_the_order_of_the_file_nor_the_rest_of_it_matters() -> None:
    questions = supergpqa()
    backwards = Questions(questions.dataset, questions.items[::-1], questions.source)
    one, two = (sample(each, 300, seed=7) for each in (questions, backwards))
    assert one == two
    assert one != sample(questions, 300, seed=8)
    smaller, larger = (sample(questions, size, stress=0).questions for size in (100, 3000))
    assert {drawn.id for drawn in smaller} <= {drawn.id for drawn in larger}


def test_draws_are_even() -> None:
    questions = dataset({("a", "easy"): 20, ("a", "hard"): 20})
    drawn = Counter(one.id for seed in range(400) for one in sample(questions, 10, stress=0, seed=seed).questions)
    assert len(drawn) == 40
    assert all(60 < count < 145 for count in drawn.values())  # 100 expected, standard deviation 8.7


def test_strata_with_few_questions() -> None:
    lone = dataset({("a", "easy"): 100, ("b", "hard"): 1})
    manifest = sample(lone, 5)
    assert [stratum.drawn for stratum in manifest.strata] == [4, 1]  # The stress phase reaches the only hard one.
    unseen = sample(lone, 5, stress=0)
    assert [stratum.weight for stratum in unseen.strata] == [Fraction(20), None]
    assert "1 of 2 strata (1 of 101 questions) are too small" in unseen.notes[0]
    whole = sample(lone, 101)
    assert {drawn.weight for drawn in whole.questions} == {1}
    assert len(sample(dataset({("a", "easy"): 1}), 1).questions) == 1


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"size": 0}, "a sample of 0 cannot be drawn from 6 questions; ask for 1 to 6"),
        ({"size": -1}, "ask for 1 to 6"),
        ({"size": 7}, "a sample of 7 cannot be drawn from 6 questions"),
        ({"size": 3, "stress": 4}, "a stress phase of 4 questions does not fit in a sample of 3"),
        ({"size": 3, "stress": -1}, "a stress phase of -1"),
        ({"size": 6, "stress": 3}, "asks for 3 hard questions, but the proportional phase leaves only 1"),
        ({"size": 3, "stress": 1, "hard": ("brutal",)}, "no stratum is hard: difficulty is 'easy', 'hard'"),
        (
            {"size": 3, "by": ("topic",)},
            "there is no 'topic' to draw a sample by; there are 'discipline', 'difficulty'",
        ),
        ({"size": 3, "by": ()}, "needs a column"),
    ],
)
def test_what_cannot_be_drawn_is_said(options: dict[str, Any], complaint: str) -> None:
    questions = dataset({("a", "easy"): 4, ("a", "hard"): 2})
    with pytest.raises(InputError, match=complaint):
        sample(questions, **options)


def test_levels_are_compared_without_case() -> None:
    questions = dataset({("a", "Easy"): 4, ("a", "HARD"): 4})
    assert [stratum.stress for stratum in sample(questions, 4, stress=2).strata] == [0, 2]


def test_a_manifest_draws_the_same_questions_again(tmp_path: Path) -> None:
    questions = supergpqa()
    manifest = sample(questions, 50, seed=3)
    manifest.write(tmp_path / "sample.json")
    again = read_manifest(tmp_path / "sample.json")
    assert again == manifest
    taken = again.take(questions)
    assert [question.id for question in taken] == [drawn.id for drawn in manifest.questions]
    only = Questions("made", tuple(taken), "excerpt.jsonl")
    assert len(again.take(only)) == 50  # What was not drawn need not be there.
    changed = Questions("made", tuple(Question(q.id, "!", q.options, q.gold) for q in questions), "new.jsonl")
    with pytest.raises(
        InputError, match=r"'new.jsonl': the questions differ from those that the sample was drawn from"
    ):
        again.take(changed)
    with pytest.raises(InputError, match="50 of 50 questions are not in it"):
        again.take(read_questions("demo"))


def test_a_sample_is_fixed_once(tmp_path: Path) -> None:
    questions = read_questions("demo")
    file = tmp_path / "sample.json"
    for _ in range(2):
        sample(questions, 8, by=["difficulty"]).write(file)
    before = file.read_bytes()
    with pytest.raises(InputError, match="there is another file of that name"):
        sample(questions, 8, by=["difficulty"], seed=1).write(file)
    assert file.read_bytes() == before
    with pytest.raises(InputError, match="there is no directory"):
        sample(questions, 8, by=["difficulty"]).write(tmp_path / "none" / "sample.json")


def test_a_manifest_holds_no_text(tmp_path: Path) -> None:
    sample(read_questions("demo"), 48, by=["difficulty"]).write(tmp_path / "sample.json")
    written = (tmp_path / "sample.json").read_text()
    assert not any(question.text in written for question in read_questions("demo"))


def test_damaged_manifests_are_refused(tmp_path: Path) -> None:
    good = sample(read_questions("demo"), 4, by=["difficulty"]).to_dict()
    one = good["questions"][0]
    for document, complaint in [
        ("nonsense", "not JSON"),
        ([], "not a sample"),
        ({"schema": "swaplaw.law"}, "not a sample"),
        (good | {"version": 9}, "version 9 is not known"),
        (good | {"questions": good["questions"][:3]}, "not 4 different questions"),
        (good | {"questions": [one] * 4}, "not 4 different questions"),
        (good | {"questions": [one | {"weight": "1/0"}]}, "damaged"),
        (good | {"questions": [one | {"phase": "late"}]}, "damaged"),
        (good | {"strata": [{}]}, "damaged"),
        (good | {"by": 3}, "damaged"),
        ({key: value for key, value in good.items() if key != "seed"}, "damaged"),
    ]:
        (tmp_path / "m.json").write_text(document if isinstance(document, str) else json.dumps(document))
        with pytest.raises(InputError, match=complaint) as caught:
            read_manifest(tmp_path / "m.json")
        assert "swaplaw collect sample" in str(caught.value)
    with pytest.raises(InputError, match="cannot read the sample"):
        read_manifest(tmp_path / "none.json")


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        SUPERGPQA | {"uuid": f"u{number}", "difficulty": LEVELS[number % 3], "discipline": f"d{number % 2}"}
        for number in range(60)
    ]
    file, output = written(tmp_path, *rows), tmp_path / "sample.json"
    command.main([str(file), "--size", "20", "--seed", "5", "-o", str(output)], standalone_mode=False)
    shown = capsys.readouterr()
    assert "20 of 60 questions, 16 in proportion and 4 from hard strata, seed 5" in shown.out
    assert f"written to {output}" in shown.out
    command.main([str(file), "--size", "20", "--seed", "5", "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out) == json.loads(output.read_text())
    for arguments, complaint in [
        (["--size", "61"], "61 cannot be drawn"),
        (["--size", "9", "--by", "colour"], "no column 'colour'.*columns of strata"),
        (["--size", "9", "--column", "gold"], "PART=NAME"),
    ]:
        with pytest.raises(InputError, match=complaint):
            command.main([str(file), *arguments], standalone_mode=False)
