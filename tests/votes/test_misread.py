"""Answers that mean something else than they say are told by how often they would be right if read otherwise."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.answers.forms import letter
from swaplaw.votes.canonical import ungraded
from swaplaw.votes.checks import Check, find_checks

from support.one_fault import Other, fleet, votes_of_rows

Write = Callable[[str], str]


def exam(options: str, writes: Write = str, *, right: float = 0.7, n: int = 80, later: int = 0) -> sl.Votes:
    """Two sound models and an odd one, which writes options in its own way, or under the id of a later question."""
    rng = np.random.default_rng(1)
    golds = [options[rng.integers(len(options))] for _ in range(n)]
    rows = []
    for question, gold in enumerate(golds):
        for model in ("sound", "other", "odd"):
            for _ in range(3):
                meant = gold if rng.random() < right else options[rng.integers(len(options))]
                at = (question + later) % n if model == "odd" else question
                rows.append((f"q{at}", model, writes(meant) if model == "odd" else meant, golds[at]))
    return votes_of_rows(rows)


def errors(votes: sl.Votes) -> list[Check]:
    found = [[check for check in find_checks(each) if check.severity == "error"] for each in (votes, votes.tally())]
    assert [check.name for check in found[0]] == [check.name for check in found[1]]
    return found[0]


@pytest.mark.parametrize(
    ("options", "writes", "told"),
    [
        ("ABCD", lambda meant: "BCDA"["ABCD".index(meant)], "'A' stands for 'D', 'B' stands for 'A'"),
        ("ABCD", lambda meant: "DCBA"["ABCD".index(meant)], "'B' stands for 'C'"),
        ("1234", lambda meant: str(int(meant) - 1), "'0' stands for '1', '1' stands for '2'"),
        ("1234", lambda meant: str(int(meant) + 1), "'2' stands for '1'"),
        ("AB", lambda meant: "BA"["AB".index(meant)], "'A' stands for 'B'"),
    ],
)
def test_options_under_other_labels_are_told(options: str, writes: Write, told: str) -> None:
    (check,) = errors(exam(options, writes, right=0.7 if len(options) > 2 else 0.6))
    assert (check.name, check.model) == ("below_chance", "odd")
    assert told in check.message
    assert errors(exam(options)) == []


@pytest.mark.parametrize(("options", "swapped"), [("ABCD", "BACD"), ("ABCDE", "ACBDE"), ("ABCD", "ACDB")])
def test_some_letters_in_each_others_places_are_told(options: str, swapped: str) -> None:
    (check,) = errors(exam(options, lambda meant: swapped[options.index(meant)], n=300))
    assert (check.name, check.model) == ("below_chance", "odd")
    assert "stands for 'B'" in check.message


def test_a_label_that_a_model_takes_for_another_is_an_answer() -> None:
    def judged(meant: str) -> str:
        return meant if rng.random() < 0.5 else {"D": "C"}.get(meant, meant)

    rng = np.random.default_rng(11)
    assert errors(exam("ABCD", judged, n=300)) == []
    assert errors(exam("ABCD", lambda meant: {"D": "C"}.get(meant, meant), n=300)) == []


def test_a_favourite_letter_stands_for_no_other_where_one_option_is_mostly_right() -> None:
    rng = np.random.default_rng(12)
    golds = ["C" if rng.random() < 0.6 else "ABD"[rng.integers(3)] for _ in range(300)]
    rows = [
        (f"q{n}", model, gold if rng.random() < knows else "A", gold)
        for n, gold in enumerate(golds)
        for model, knows in (("sound", 0.8), ("odd", 0.1))
    ]
    votes = votes_of_rows(rows)
    assert errors(votes) == []


def test_a_model_that_is_surely_below_chance_but_often_right_is_a_warning() -> None:
    votes = exam("AB", lambda meant: "BA"["AB".index(meant)], right=0.4, n=300)
    found = [check for check in find_checks(votes) if check.severity != "note"]
    assert [(check.name, check.severity, check.model) for check in found] == [("below_chance", "warning", "odd")]


@pytest.mark.parametrize("options", ["AB", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"])
@pytest.mark.parametrize("n", [20, 100])
def test_a_model_that_guesses_is_not_said_to_mean_other_labels(options: str, n: int) -> None:
    assert errors(exam(options, lambda _: options[0], n=n)) == []
    assert errors(exam(options, right=0.0, n=n)) == []


AWAY = {1: "on the question before", -1: "on the question after", 5: "5 questions before", -3: "3 questions after"}


@pytest.mark.parametrize("later", AWAY)
def test_answers_under_the_id_of_another_question_nearby_are_told(later: int) -> None:
    (check,) = errors(exam("ABCD", later=later))
    assert (check.name, check.model) == ("displaced_answers", "odd")
    assert AWAY[later] in check.message


def test_neighbours_with_the_same_gold_displace_nothing() -> None:
    votes = exam("ABCD").counts.sort("gold", "question")
    order = {name: f"q{place}" for place, name in enumerate(votes["question"].unique(maintain_order=True))}
    assert errors(sl.votes_from(votes.with_columns(pl.col("question").replace(order)))) == []


def test_a_letter_far_behind_the_options_is_none_of_them() -> None:
    (check,) = errors(exam("ABCD", lambda meant: "X" if meant == "A" else meant))
    assert (check.name, check.model) == ("not_an_option", "odd")
    # The next letter may be an option that is never right.
    assert errors(exam("ABCD", lambda meant: "E" if meant == "A" else meant)) == []


@pytest.mark.parametrize(
    "writes",
    [lambda meant: "АВСD"["ABCD".index(meant)], lambda meant: chr(ord(meant) + 0xFEE0), lambda meant: f"b'{meant}'"],
)
def test_letters_that_look_alike_are_told_and_mended(writes: Write) -> None:
    (check,) = errors(exam("ABCD", writes))
    assert (check.name, check.model) == ("spelling", "odd")
    assert "--canonical letter" in check.fix
    assert errors(ungraded(exam("ABCD", writes), ["letter"])) == []


def test_an_apostrophe_makes_no_option() -> None:
    assert [letter(text) for text in ("I'd say B", "b'D'", "'A'", "\u0412)", "I'm sorry")] == [
        "I'd say B", "D", "A", "B", "I'm sorry"
    ]  # fmt: skip


def test_a_row_that_is_lost_halfway_is_told() -> None:
    votes = exam("ABCD", n=240).counts
    number = pl.col("question").str.strip_prefix("q").cast(pl.Int64)
    late = (pl.col("model") == "odd") & (number > 120)
    name = pl.when(late).then("q" + (number - 1).cast(pl.String)).otherwise("question")
    golds = votes.select("question", "gold").unique()
    lost = votes.with_columns(question=name).drop("gold").join(golds, on="question")
    (check,) = errors(sl.votes_from(lost))
    assert (check.name, check.model) == ("displaced_answers", "odd")
    assert check.message.startswith("from question 'q120' on, ")
    assert "on the question after" in check.message


def number(rng: np.random.Generator) -> str:
    return str(rng.integers(1000, 9000))


def drawn(other: Other, n: int = 60) -> list[str]:
    rng = np.random.default_rng(1)
    return [other(rng) for _ in range(n)]


@pytest.mark.parametrize(
    ("writes", "name"),
    [
        (lambda text: f"{int(text):,}".replace(",", "."), "notation"),
        (lambda text: f"{text} €", "notation"),
        (lambda text: f"{text}.0", "spelling"),
        (lambda text: f"{text} km", "notation"),
    ],
)
def test_a_number_written_otherwise_is_told_once(writes: Write, name: str) -> None:
    assert [(check.name, check.model) for check in find_checks(fleet(drawn(number), number, writes))] == [(name, "odd")]


def test_letters_in_another_order_are_another_word() -> None:
    numerals = ["IV", "VI", "IX", "XI", "LX", "XL", "CD", "DC", "XC", "CX"]
    found = find_checks(fleet(numerals * 6, "?", lambda text: text if len(set(text)) < 2 else text[::-1], samples=1))
    assert "spelling" not in {check.name for check in found}


def test_a_gold_that_stands_for_none_is_not_called_a_list() -> None:
    frame = exam("ABCD").counts.with_columns(gold=pl.lit("N/A"))
    assert [check.name for check in errors(sl.votes_from(frame))] == ["no_gold", "never_right"]


def test_few_answers_outside_the_options_are_a_warning() -> None:
    rng = np.random.default_rng(4)
    found = find_checks(exam("ABCD", lambda meant: "Paris" if rng.random() < 0.1 else meant))
    assert [(check.name, check.severity, check.model) for check in found] == [("not_an_option", "warning", "odd")]


def test_a_label_of_another_kind_is_told_where_others_keep_to_the_labels() -> None:
    votes = fleet(["yes", "no", "no"] * 20, ("yes", "no"), lambda meant: "B" if meant == "no" else meant, right=0.8)
    assert [(check.name, check.model) for check in errors(votes)] == [("not_an_option", "odd")]


def test_a_model_that_is_never_right_on_few_questions_is_told_without_guessing_labels() -> None:
    rng = np.random.default_rng(6)
    golds = ["ABCD"[rng.integers(4)] for _ in range(25)]
    rows = [
        (f"q{n}", model, gold if model == "sound" and n % 3 else "ABCD".replace(gold, "")[rng.integers(3)], gold)
        for n, gold in enumerate(golds)
        for model in ("sound", "odd")
    ]
    votes = votes_of_rows(rows)
    (check,) = errors(votes)
    assert (check.name, check.model) == ("below_chance", "odd")
    assert "stands for" not in check.message


@pytest.mark.parametrize("writes", ['{{"answer": "{}"}}', "The capital is {}.", "The {}"])
def test_gold_among_other_words_is_told(writes: str) -> None:
    cities = ["Paris", "Oslo", "Rome", "Bern", "Vienna", "Lima", "Quito", "Cairo", "Tunis", "Riga", "Minsk", "Kyiv"]

    def pair(rng: np.random.Generator) -> str:
        return " ".join(rng.choice(cities, 2))

    (check,) = errors(fleet(drawn(pair), pair, writes.format, samples=1))
    assert (check.name, check.model) == ("never_right", "odd")
    assert "which has gold in it" in check.message


def time(rng: np.random.Generator) -> str:
    return f"{rng.integers(13, 24)}:{rng.integers(10, 60)}"


@pytest.mark.parametrize(
    "writes", [lambda at: at.replace(":", "h"), lambda at: f"{int(at[:2]) - 12}{at[2:]} PM", lambda at: f"€{at[:2]}"]
)
def test_a_model_that_never_writes_as_gold_is_written_is_misread(writes: Write) -> None:
    (check,) = errors(fleet(drawn(time), time, writes, samples=1))
    assert (check.name, check.model) == ("never_right", "odd")
    assert "where gold is such as '1" in check.message


def test_a_model_that_writes_as_gold_is_written_may_be_weak() -> None:
    rng = np.random.default_rng(9)
    found = find_checks(fleet(drawn(time), time, lambda at: f"{rng.integers(1, 10)}:{at[3:]}", samples=1))
    assert [(check.name, check.severity) for check in found if check.severity != "note"] == [("never_right", "warning")]


@pytest.mark.parametrize(
    ("gold", "odd"), [("%B %d, %Y", "%Y-%m-%d"), ("%d %B %Y", "%B %d, %Y"), ("%Y/%m/%d", "%Y-%m-%d")]
)
def test_a_date_in_another_notation_is_told_whatever_the_notation_of_gold(gold: str, odd: str) -> None:
    def day(rng: np.random.Generator) -> str:
        return f"{date(2020, 1, 1) + timedelta(int(rng.integers(2000))):{gold}}"

    votes = fleet(drawn(day), day, lambda text: f"{datetime.strptime(text, gold):{odd}}", samples=1)
    (check,) = errors(votes)
    assert (check.name, check.model) == ("notation", "odd")
    assert "--canonical time" in check.fix
    assert errors(ungraded(votes, ["time"])) == []


Answers = list[list[str]]


def open_task(
    golds: list[str], writes: Callable[[Answers], Answers], *, samples: int = 1, guesses: bool = False
) -> sl.Votes:
    """A sound model, and an odd one that is given other questions' answers; wrong ones are other golds, or none's."""
    rng = np.random.default_rng(13)
    known = sorted(set(golds))

    def answers(right: float) -> Answers:
        wrong = [str(rng.choice(known)) if guesses else f"{gold}x{rng.integers(99)}" for gold in golds]
        meant = [gold if rng.random() < right else other for gold, other in zip(golds, wrong, strict=True)]
        return [[each] * samples for each in meant]

    odd = writes(answers(0.72))
    rows = [
        (f"q{question}", model, answer, golds[question])
        for model, given in (("sound", answers(0.72)), ("odd", odd))
        for question, some in enumerate(given)
        for answer in some
    ]
    return votes_of_rows(rows)


def words(n: int, different: int = 10_000) -> list[str]:
    rng = np.random.default_rng(14)
    return [f"{'aeiou'[word % 5]}{'bcdfg'[word // 5 % 5]}{word}" for word in rng.integers(different, size=n)]


def shuffled(given: Answers) -> Answers:
    return [given[at] for at in np.random.default_rng(15).permutation(len(given))]


def shuffled_votes(given: Answers) -> Answers:
    votes = [answer for some in given for answer in some]
    mixed = [votes[at] for at in np.random.default_rng(15).permutation(len(votes))]
    return [mixed[at : at + len(given[0])] for at in range(0, len(mixed), len(given[0]))]


def half_shuffled(given: Answers) -> Answers:
    chosen = np.random.default_rng(16).permutation(len(given))[::2]
    mixed = list(given)
    for here, there in zip(sorted(chosen), chosen, strict=True):
        mixed[here] = given[there]
    return mixed


@pytest.mark.parametrize(
    ("writes", "samples", "guesses", "n"),
    [
        (shuffled, 1, False, 80),
        (shuffled, 4, False, 80),
        (shuffled, 1, True, 200),
        (shuffled_votes, 4, False, 200),
        (sorted, 1, False, 80),
        (half_shuffled, 1, False, 300),
    ],
)
def test_answers_of_an_open_task_that_stand_at_other_questions_are_told(
    writes: Callable[[Answers], Answers], samples: int, guesses: bool, n: int
) -> None:
    (check,) = errors(open_task(words(n), writes, samples=samples, guesses=guesses))
    assert (check.name, check.model) == ("displaced_answers", "odd")
    assert "could be if they were given to other questions" in check.message
    assert "its own question" in check.fix


def test_the_example_of_shuffled_answers_is_gold_of_the_question_named() -> None:
    votes = open_task(words(80), shuffled)
    (check,) = errors(votes)
    said, meant = check.message.split("its answer to ")[1].replace("'", "").split(" is gold of ")
    answer = votes.counts.filter(pl.col("question") == said, pl.col("model") == "odd")["answer"].item()
    assert answer in votes.counts.filter(pl.col("question") == meant)["gold"].to_list()


@pytest.mark.parametrize("votes", [exam("ABCD", later=1), open_task(words(80), shuffled)])
def test_the_example_does_not_hang_on_the_order_of_rows(votes: sl.Votes) -> None:
    shown = {
        errors(sl.votes_from(votes.counts.sample(fraction=1, shuffle=True, seed=seed)))[0].message for seed in range(5)
    }
    assert len(shown) == 1


@pytest.mark.parametrize("writes", [shuffled, sorted])
def test_shuffled_answers_are_told_where_no_other_model_is_right(
    writes: Callable[[Answers], Answers],
) -> None:
    alone = open_task(words(80), writes).counts.filter(pl.col("model") == "odd")
    assert [check.name for check in errors(sl.votes_from(alone))] == ["displaced_answers"]
    every = pl.concat([alone, alone.with_columns(model=pl.lit("sound"))])
    assert [check.model for check in errors(sl.votes_from(every))] == ["odd", "sound"]


@pytest.mark.parametrize("samples", [1, 6])
@pytest.mark.parametrize("different", [12, 60, 10_000])
@pytest.mark.parametrize("knows", [0.0, 0.02, 0.1])
def test_a_weak_model_that_guesses_among_other_golds_is_not_displaced(
    samples: int, different: int, knows: float
) -> None:
    golds = words(200, different)
    rng = np.random.default_rng(17)

    def guessed(_: Answers) -> Answers:
        given = [gold if rng.random() < knows else str(rng.choice(golds)) for gold in golds]
        return [[each if rng.random() < 0.7 else str(rng.choice(golds)) for _ in range(samples)] for each in given]

    found = find_checks(open_task(golds, guessed, samples=samples))
    assert "displaced_answers" not in {check.name for check in found}


def test_near_misses_in_a_row_of_numbers_are_not_displaced() -> None:
    rng = np.random.default_rng(18)
    golds = [str(number) for number in rng.permutation(3000)]

    def near(_: Answers) -> Answers:
        return [[str(int(gold) + int(rng.choice([-3, -2, -1, 1, 2, 3])))] for gold in golds]

    assert "displaced_answers" not in {check.name for check in find_checks(open_task(golds, near))}
