"""What looks wrong in votes is found, named, and comes with how to fix it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import swaplaw as sl
from swaplaw.votes.checks import Check, find_checks

from support.data import real_votes
from support.one_fault import Rows, fleet, votes_of_rows


def exam(models: dict[str, Callable[[str, str], str | None]], n: int = 60, samples: int = 1) -> Rows:
    """Four options; a model is a function from the letter it means, and the question's right one, to what it writes."""
    rng = np.random.default_rng(0)
    rows: list[tuple[str, str, str | None, str]] = []
    for question in range(n):
        gold = "ABCD"[rng.integers(4)]
        for model, writes in models.items():
            for _ in range(samples):
                meant = gold if rng.random() < 0.7 else "ABCD"[rng.integers(4)]
                rows.append((f"q{question}", model, writes(meant, gold), gold))
    return rows


def plain(meant: str, _: str) -> str:
    return meant


def named(found: tuple[Check, ...], name: str) -> Check:
    (check,) = [check for check in found if check.name == name]
    return check


def test_sound_votes_pass() -> None:
    assert find_checks(sl.demo_votes()) == ()
    assert find_checks(votes_of_rows(exam({"a": plain, "b": plain}, samples=3))) == ()


@pytest.mark.parametrize(
    ("writes", "name", "example", "fix"),
    [
        (lambda meant, _: f"{meant})", "spelling", ")' where gold", "--canonical letter"),
        (lambda meant, _: meant.lower(), "spelling", "'", "--canonical letter"),
        (lambda meant, _: f'["{meant}"]', "spelling", '["', "--canonical letter"),
        (lambda meant, _: f"{meant}. Paris", "spelling", ". Paris", "--canonical letter"),
        (lambda meant, _: {"A": "Rome", "B": "Paris"}.get(meant, "Oslo"), "not_an_option", "Oslo", "letter or label"),
        (lambda _, gold: "ABCD"[("ABCD".index(gold) + 1) % 4], "below_chance", "guessing", "same order"),
        (lambda *_: None, "no_answers", "60 votes", "leave the model out"),
        (lambda meant, _: "N/A" if meant == "A" else meant, "no_answer_as_text", "N/A", "null"),
        (lambda meant, _: "nan" if meant == "A" else meant, "no_answer_as_text", "nan", "null"),
    ],
)
def test_a_model_whose_answers_cannot_mean_what_they_say(
    writes: Callable[[str, str], str | None], name: str, example: str, fix: str
) -> None:
    votes = votes_of_rows(exam({"sound": plain, "odd": writes}))
    for found in (find_checks(votes), find_checks(votes.tally())):
        check = named(found, name)
        assert (check.severity, check.model) == ("error", "odd")
        assert "'odd'" in check.message
        assert example in check.message
        assert fix in check.fix
        assert all(each.model != "sound" for each in found)


def test_the_named_fix_mends_the_spelling() -> None:
    from swaplaw.votes.canonical import ungraded

    votes = votes_of_rows(exam({"sound": plain, "odd": lambda meant, _: f"({meant.lower()})"}))
    assert find_checks(ungraded(votes, ["letter"])) == find_checks(votes_of_rows(exam({"sound": plain, "odd": plain})))


def test_gold_that_is_spelt_unlike_all_answers() -> None:
    rows = [
        (question, model, answer, f'["{gold}"]') for question, model, answer, gold in exam({"a": plain, "b": plain})
    ]
    found = find_checks(votes_of_rows(rows))
    assert {check.model for check in found if check.name == "spelling"} == {"a", "b"}
    numbers = [(f"q{k}", model, f"{k}.0" if model == "b" else str(k), str(k)) for k in range(40) for model in "ab"]
    assert named(find_checks(votes_of_rows(numbers)), "spelling").fix.count("--canonical numeric") == 1


def test_gold_that_is_not_there() -> None:
    rows: Rows = [(f"q{k}", "a", "x", "nan" if k < 5 else "x") for k in range(40)]
    assert named(find_checks(votes_of_rows(rows)), "no_gold").questions == 5


def test_guessing_is_no_error() -> None:
    rng = np.random.default_rng(3)
    rows = exam({"sound": plain, "guesses": lambda *_: "ABCD"[rng.integers(4)]}, n=200)
    assert {check.severity for check in find_checks(votes_of_rows(rows))} == {"note"}


def test_votes_of_which_none_is_right() -> None:
    rows: Rows = [(f"q{k}", model, "ABCD"[k % 4], f"text {k}") for k in range(40) for model in "ab"]
    check = named(find_checks(votes_of_rows(rows)), "never_right")
    assert (check.severity, check.model) == ("error", None)
    mixed: Rows = [*rows, *((f"q{k}", "c", f"text {k}", f"text {k}") for k in range(40))]
    assert {
        check.model: check.severity for check in find_checks(votes_of_rows(mixed)) if check.name == "never_right"
    } == {
        "a": "error",
        "b": "error",
    }


def test_a_copy_with_more_votes_in_the_same_shares_is_a_copy() -> None:
    rows = exam({"a": plain}, samples=3)
    twice = [*rows, *((question, "b", answer, gold) for question, _, answer, gold in rows for _ in range(2))]
    check = named(find_checks(votes_of_rows(twice)), "duplicate_model")
    assert (check.model, check.severity, check.questions) == ("b", "warning", 60)
    assert not any(check.name == "duplicate_model" for check in find_checks(votes_of_rows(twice[:15] + twice[180:210])))
    few = [row for row in twice if row[1] == "a" or int(row[0][1:]) < 40]
    assert sl.recommend(votes_of_rows(few).tally(), checks=find_checks(votes_of_rows(few))).reason == "no_change"


def prose(n: int = 40, samples: int = 8, graded: bool = True) -> pl.DataFrame:
    """Right about a third of the time, in words of its own every time."""
    rng = np.random.default_rng(1)
    rows = []
    for question in range(n):
        for model in "ab":
            for sample in range(samples):
                right = bool(rng.random() < 0.33)
                text = f"{'yes' if right else 'no'}, because of reason {model}{sample} in case {question}"
                answer = text if graded or not right else f"the answer {question}"
                rows.append((f"q{question}", model, answer, f"the answer {question}", right))
    frame = pl.DataFrame(rows, schema=["question", "model", "answer", "gold", "correct"], orient="row")
    return frame if graded else frame.drop("correct")


def test_graded_prose_is_told_first() -> None:
    votes = sl.votes_from(prose(graded=False))
    first = find_checks(votes)[0]
    assert (first.name, first.severity) == ("graded_prose", "error")
    assert "single sample" in first.message
    assert sl.recommend(votes.tally()).verdict == "cannot_tell"


def test_right_answers_of_many_spellings_are_told_with_what_they_cost() -> None:
    votes = sl.votes_from(prose(graded=True))
    for found in (find_checks(votes), find_checks(votes.tally())):
        assert not [check for check in found if check.severity == "error"]
    check = named(find_checks(votes), "right_spellings")
    assert check.severity == "warning"
    spelt, merged = (float(each) for each in re.findall(r"([\d.]+)% of the time", check.message))
    best = {model.model: float(model.plurality) for model in sl.summary(votes.merging_right().tally())}
    assert any(abs(100 * plurality - merged) < 0.05 for plurality in best.values())
    assert merged > spelt
    assert "--judge" in check.fix


def test_a_canonical_form_that_makes_spellings_one_is_named() -> None:
    rows = [
        (f"q{n}", model, text, "x", text != "no")
        for n in range(40)
        for model in "ab"
        for text in ("Paris", "paris.", "PARIS", "no", "no")
    ]
    frame = pl.DataFrame(rows, schema=["question", "model", "answer", "gold", "correct"], orient="row")
    check = named(find_checks(sl.votes_from(frame)), "right_spellings")
    assert check.fix == "`--canonical text` makes 40 of these 120 spellings"
    assert "is right 0.0% of the time, and would be 100.0% of the time" in check.message


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("The capital is Oslo.", True),
        ('{"answer": "Oslo"}', True),
        ("not Oslo", False),
        ("Oslo or Bergen", False),
        ("Osloer", False),
        ("Bergen", False),
    ],
)
def test_wrong_answers_that_say_gold_are_told(said: str, told: bool) -> None:
    cities = ["Oslo", "Rome", "Bern", "Lima", "Cairo", "Quito", "Delhi", "Paris", "Tunis", "Accra"]
    rows: Rows = [
        (f"q{n}", model, said.replace("Oslo", city) if model == "odd" and n % 4 == 0 else city, city)
        for n in range(80)
        for city in [cities[n % len(cities)] + f" {'abcdefgh'[n // 10]}"]
        for model in ("sound", "odd")
        for _ in range(3)
    ]
    found = [check for check in find_checks(votes_of_rows(rows)) if check.name == "wrong_yet_gold"]
    assert bool(found) == told
    for check in found:
        assert (check.model, check.severity, check.questions, check.share) == ("odd", "warning", 20, 0.25)


def test_a_set_on_which_all_are_below_chance_is_not_blocked() -> None:
    rng = np.random.default_rng(1)
    rows = [
        (
            f"q{n}",
            model,
            "ABCD"[("ABCD".index(gold) + 1 + int(rng.integers(3))) % 4] if rng.random() < 0.99 else gold,
            gold,
        )
        for n in range(300)
        for gold in ["ABCD"[n % 4]]
        for model in "ab"
    ]
    found = [check for check in find_checks(votes_of_rows(rows)) if check.name == "below_chance"]
    assert {check.severity for check in found} == {"warning"}


def mapped(
    golds: Sequence[str], right: float, models: int = 2, samples: int = 5, n: int = 100, formula: float = 0.0
) -> Rows:
    """A judge's word: right texts are gold, wrong ones all different, or now and then one and the same formula."""
    rng = np.random.default_rng(3)
    rows: list[tuple[str, str, str | None, str]] = []
    for question in range(n):
        gold = golds[question % len(golds)] if golds else f"the treaty of {question}"
        for model in range(models):
            for _ in range(samples):
                wrong = "I do not know" if rng.random() < formula else f"it was {rng.integers(10**9)} and so on"
                rows.append((f"q{question}", f"m{model}", gold if rng.random() < right else wrong, gold))
    return rows


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (mapped([], 0.4), "its plurality vote"),
        (mapped([], 0.9), "its plurality vote"),
        (mapped(["A", "B", "C", "D"], 0.85), "its plurality vote"),
        (mapped(["yes", "no"], 0.6), "its plurality vote"),
        (mapped([], 0.4, formula=0.4), "its plurality vote"),
        (mapped([], 0.4, models=3, samples=1), "any vote among texts would be inflated"),
        (mapped([], 0.5, samples=2), "any vote among texts would be inflated"),
    ],
)
def test_prose_of_every_shape_is_told(rows: Rows, words: str) -> None:
    first = find_checks(votes_of_rows(rows))[0]
    assert (first.name, first.severity) == ("graded_prose", "error")
    assert words in first.message
    assert "put the texts that the models wrote" in first.fix


def test_short_answers_that_differ_are_no_prose() -> None:
    """Three models name cities, once each, or again and again: wrong ones differ from model to model."""
    rows = fleet(
        [f"town {n}" for n in range(80)], lambda rng: f"village {rng.integers(10**6)}", models="abc", samples=1
    )
    for votes in (rows, sl.votes_from(pl.concat([rows.frame.collect()] * 4))):
        assert not any(check.severity == "error" for check in find_checks(votes))


def test_free_text_that_is_compared_by_spelling_is_sound() -> None:
    for file in ("reasoning-gym.parquet", "best-of-infinity.parquet"):
        votes = sl.read_votes(real_votes(file))
        assert not any(check.severity == "error" for check in find_checks(votes))


def test_shape() -> None:
    one = find_checks(votes_of_rows(exam({"a": plain, "b": plain}, n=12), cluster=["c"] * 24))
    assert {"few_questions", "one_sample", "one_cluster"} <= {check.name for check in one}
    rows = [*exam({"a": plain}), *exam({"b": plain}, n=20)]
    assert named(find_checks(votes_of_rows(rows)), "uneven_questions").model == "b"
    always = find_checks(votes_of_rows(exam({"a": plain, "c": lambda *_: "C"})))
    assert named(always, "constant_answer").model == "c"


def test_the_command(tmp_path: Path, swaplaw: Callable[..., object]) -> None:
    file = tmp_path / "votes.csv"
    votes_of_rows(exam({"sound": plain, "odd": lambda meant, _: f"{meant})"})).write(file)
    document = json.loads(swaplaw("checks", file, "--json").out)  # type: ignore[attr-defined]
    assert set(document["checks"][0]) >= {"name", "severity", "model", "questions", "message", "fix"}
    assert document["checks"][0]["model"] == "odd"
    assert "--canonical letter" in swaplaw("checks", file).out  # type: ignore[attr-defined]
    other = swaplaw("summary", file, "--canonical", "exact", "--json")
    assert other.err.startswith("error: 'odd' answers")  # type: ignore[attr-defined]
    json.loads(other.out)  # type: ignore[attr-defined]
    votes_of_rows(exam({"sound": plain, "odd": lambda meant, _: meant.lower()})).write(file)
    found = json.loads(swaplaw("checks", file, "--json").out)["checks"]  # type: ignore[attr-defined]
    assert (found[0]["name"], found[0]["model"]) == ("spelling", "odd")
    assert "Nothing looks wrong" in swaplaw("checks", "demo").out  # type: ignore[attr-defined]


def answering(word: str, share: float = 0.3) -> Rows:
    """Two models, of which one gives the same word again and again."""
    rng = np.random.default_rng(1)
    return exam({"a": plain, "b": lambda meant, _: word if rng.random() < share else meant}, samples=3)


@pytest.mark.parametrize(
    "word",
    ["n.a.", "[ERROR]", "<error>", "Connection error.", "HTTP 500", "Request timed out.", "ValueError: no letter",
     "openai.RateLimitError: 429", "no answer found", "[INVALID]"],
)  # fmt: skip
def test_what_tools_write_in_place_of_an_answer_is_told(word: str) -> None:
    found = [check for check in find_checks(votes_of_rows(answering(word))) if check.model == "b"]
    assert [(check.name, check.severity) for check in found] == [("no_answer_as_text", "error")]
    assert word in found[0].message.replace("\\", "")


@pytest.mark.parametrize("word", ["terror", "error correction", "nano", "Nonesuch"])
def test_words_that_only_look_like_errors_are_answers(word: str) -> None:
    assert not [check for check in find_checks(votes_of_rows(answering(word))) if check.name == "no_answer_as_text"]


@pytest.mark.parametrize(("number", "severity"), [(6, "error"), (2, "warning")])
def test_gold_that_says_not_available_is_told(number: int, severity: str) -> None:
    rows = [(q, m, a, "N/A" if int(q[1:]) < number else g) for q, m, a, g in exam({"a": plain, "b": plain})]
    check = named(find_checks(votes_of_rows(rows)), "no_gold")
    assert (check.severity, check.questions) == (severity, number)


def test_numbers_of_options_are_no_letters_on_a_small_table() -> None:
    rows = exam({"a": plain, "b": lambda meant, _: str("ABCD".index(meant))}, n=12, samples=3)
    assert named(find_checks(votes_of_rows(rows)), "not_an_option").model == "b"


@pytest.mark.parametrize("reply", ["The answer is {}.", "{}\nbecause of the heat"])
def test_replies_that_name_a_letter_come_with_the_reader(reply: str) -> None:
    rows = exam({"a": plain, "b": lambda meant, _: reply.format(meant)})
    assert "--read choice" in named(find_checks(votes_of_rows(rows)), "not_an_option").fix


def test_a_spelling_is_told_once() -> None:
    rows = exam({"a": plain, "b": lambda meant, _: f"\\boxed{{{meant}}}"})
    assert [check.name for check in find_checks(votes_of_rows(rows)) if check.severity == "error"] == ["spelling"]


def open_answers(wrong: Callable[[np.random.Generator], str], right: bool = True) -> Rows:
    """Free answers of which a third are right, the others all different."""
    rng = np.random.default_rng(2)
    return [
        (f"q{n}", model, "gold" if right and rng.random() < 0.35 else wrong(rng), "gold")
        for n in range(60)
        for model in "ab"
        for _ in range(8)
    ]


@pytest.mark.parametrize(
    "form",
    ["{0} km/h", "{0}.5e-3", "({0}, {1})", "{0}x^2+{1}x", "12:{1:02d}:{0}", "{0:08x}", "{0} metres", "[{0}; {1}]"],
)
def test_quantities_and_formulas_are_no_prose(form: str) -> None:
    rows = open_answers(lambda rng: form.format(int(rng.integers(10**6)), int(rng.integers(60))))
    assert not [check for check in find_checks(votes_of_rows(rows)) if check.name == "graded_prose"]


def test_prose_needs_right_answers_that_agree() -> None:
    said = "the {} of the {} is a long text"
    rows = open_answers(lambda rng: said.format(*rng.integers(10**6, size=2)))
    assert named(find_checks(votes_of_rows(rows)), "graded_prose").severity == "error"
    rows = open_answers(lambda rng: said.format(*rng.integers(10**6, size=2)), right=False)
    assert [check.name for check in find_checks(votes_of_rows(rows)) if check.severity == "error"] == ["never_right"]


def test_one_vote_is_not_several() -> None:
    found = find_checks(votes_of_rows([("q", "a", None, "A"), ("q", "b", "A", "A")]))
    assert "its only vote is" in named(found, "no_answers").message


def test_the_example_of_a_spelling_is_that_of_the_first_question() -> None:
    rows = [(f"q{k:02}", model, f"{k}.0" if model == "b" else str(k), str(k)) for k in range(40) for model in "ab"]
    for order in (rows, rows[::-1]):
        assert "'0.0' where gold is '0'" in named(find_checks(votes_of_rows(order)), "spelling").message


def numbers(writes: Callable[[str], str], n: int = 60, samples: int = 4, low: int = 1000, high: int = 99_999) -> Rows:
    """Two models that answer with numbers and are often right; "b" writes them in its own way."""
    rng = np.random.default_rng(4)
    rows: list[tuple[str, str, str | None, str]] = []
    for question in range(n):
        gold = str(rng.integers(low, high))
        for model in "ab":
            for _ in range(samples):
                meant = gold if rng.random() < 0.6 else str(rng.integers(low, high))
                rows.append((f"q{question}", model, writes(meant) if model == "b" else meant, gold))
    return rows


SILENT = [
    "<html><head><title>502 Bad Gateway</title></head></html>", "<!DOCTYPE html><html></html>", "429 Too Many Requests",
    "503 Service Unavailable", '{"detail":"Not Found"}', "{'error': 'overloaded'}", '{"error": {"message": "slow"}}',
    "upstream connect error or disconnect/reset before headers", "CUDA out of memory",
    "Traceback (most recent call last): ...", "I don't know", "I don’t know.", "I cannot answer that",
    "I'm sorry, but I can't help with that", "Sorry, I'm overloaded right now", "unknown", "[]", "{}", "''", '""',
    "...", "n/a.", "None.", "[no parse]", "<no answer>", "Cannot determine", "not sure", "<think>", "failed to parse",
]  # fmt: skip


@pytest.mark.parametrize("word", SILENT)
def test_non_answers_are_told_whatever_gold_is(word: str) -> None:
    rng = np.random.default_rng(1)
    numeric = numbers(lambda meant: word if rng.random() < 0.3 else meant)
    for rows in (numeric, answering(word)):
        found = [check for check in find_checks(votes_of_rows(rows)) if check.severity == "error"]
        assert [(check.name, check.model) for check in found] == [("no_answer_as_text", "b")]
        assert "null" in found[0].fix


@pytest.mark.parametrize("word", ["unknown", "None of the above", "0", "[]", "I don't know", "{}", "..."])
def test_what_is_gold_somewhere_is_an_answer(word: str) -> None:
    votes = fleet([word, "John", "Mary"] * 30, (word, "John", "Mary"))
    assert not [check for check in find_checks(votes) if check.severity != "note"]


@pytest.mark.parametrize(
    ("word", "gold"),
    [("[]", "[{}, {}]"), ("{}", '{{"a": {}, "b": {}}}'), ('""', '"{}{}"'), ("<body></body>", "<p>{}{}")],
)
def test_empty_code_is_an_answer_where_golds_are_code(word: str, gold: str) -> None:
    votes = fleet([gold.format(n, n + 1) for n in range(60)], [word])
    assert not [check for check in find_checks(votes) if check.name == "no_answer_as_text"]


def test_patterns_for_non_answers_take_linear_time() -> None:
    """A text of a million marks is looked at in one go; a pattern that tries again from every mark would not end."""
    from swaplaw.votes.checks.silence import silence

    silent, doubtful = silence({"5"})
    for mark in ("[", "{", "'", "a.", "<think>", "sorry ", "error ", '{"a":', "-", "I "):
        assert isinstance(silent(mark * 500_000) or doubtful(mark * 500_000), bool)


def regold(rows: Rows, writes: Callable[[str], str], every: int = 5) -> Rows:
    """The same votes with other golds on some of the questions."""
    return [(q, m, a, writes(g) if int(q[1:]) % every == 0 else g) for q, m, a, g in rows]


@pytest.mark.parametrize("form", ["{} or {}", "{}, {}", "{}|{}", '["{}","{}"]', "{}/{}", "['{}', '{}']", "{};{}"])
@pytest.mark.parametrize(("every", "severity"), [(5, "error"), (30, "warning")])
def test_several_golds_in_one_are_told(form: str, every: int, severity: str) -> None:
    rows = regold(exam({"a": plain, "b": plain}), lambda gold: form.format(gold, "D" if gold == "A" else "A"), every)
    check = named(find_checks(votes_of_rows(rows)), "several_golds")
    assert (check.severity, check.model, check.questions) == (severity, None, 60 // every)
    assert "one gold" in check.fix
    assert [each.name for each in find_checks(votes_of_rows(rows)) if each.severity == "error"] == ["several_golds"] * (
        every == 5
    )


@pytest.mark.parametrize(
    "golds", [["A", "A, C", "B, C", "B"], ["black or white", "salt, pepper", "to be or not"], ["1/2", "1", "2", "3,5"]]
)
def test_lists_that_models_answer_with_are_golds(golds: list[str]) -> None:
    votes = fleet([golds[n % len(golds)] for n in range(60)], golds, samples=1)
    assert not [check for check in find_checks(votes) if check.severity != "note"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [("1", "0"), ("correct", "incorrect"), ("True", "False"), ("pass", "fail"), ("C", "I"), ("1.0", "0.0")],
)
def test_grades_are_no_answers(right: str, wrong: str) -> None:
    rows = [(q, m, right if a == g else wrong, right) for q, m, a, g in exam({"a": plain, "b": plain}, samples=3)]
    check = named(find_checks(votes_of_rows(rows)), "grades_as_answers")
    assert check.severity == "error"
    assert "`correct`" in check.fix


def test_gold_that_is_always_the_same_option_is_told() -> None:
    rows = [(q, m, a, "A") for q, m, a, _ in exam({"a": plain, "b": plain})]
    assert named(find_checks(votes_of_rows(rows)), "constant_gold").severity == "warning"
    honest = [(q, m, "True" if a == g else "False", str(int(q[1:]) % 2 == 0)) for q, m, a, g in rows]
    assert not any(check.name in ("grades_as_answers", "constant_gold") for check in find_checks(votes_of_rows(honest)))


@pytest.mark.parametrize("writes", [lambda g: str("ABCD".index(g)), lambda g: f'{{"answer": "{g}"}}'])
def test_gold_is_blamed_once_where_gold_is_at_fault(writes: Callable[[str], str]) -> None:
    rows = regold(exam({"a": plain, "b": plain}), writes, 1)
    (check,) = [check for check in find_checks(votes_of_rows(rows)) if check.severity == "error"]
    assert (check.name, check.model) == ("never_right", None)
    assert "gold is at fault" in check.message
    assert "column `gold`" in check.fix


@pytest.mark.parametrize(
    ("writes", "scale"),
    [
        (lambda n: f"The answer is {n}.", 1), (lambda n: f"#### {n}", 1), (lambda n: f"{n} apples", 1),
        (lambda n: f"{int(n) / 10:.1f}".replace(".", ","), 10), (lambda n: f"{n}%", 100),
    ],
)  # fmt: skip
def test_numbers_in_another_notation_are_told(writes: Callable[[str], str], scale: int) -> None:
    """Where golds are small counts that come again and again, too: then they look like options."""
    for low, high in ((1000, 99_999), (10, 20)):
        rows = [
            (q, m, writes(str(a)) if m == "b" else str(int(str(a)) / scale if scale > 1 else a),
             str(int(g) / scale if scale > 1 else g))
            for q, m, a, g in numbers(str, low=low, high=high)
        ]  # fmt: skip
        (check,) = [check for check in find_checks(votes_of_rows(rows)) if check.severity == "error"]
        assert check.model == "b"
        mends = {"notation": "number alone", "spelling": "--canonical"}
        assert mends[check.name] in check.fix
        assert sl.recommend(votes_of_rows(rows).tally()).verdict == "cannot_tell"


@pytest.mark.parametrize(
    "answer", ["not {}", "x^{}", "about {}", "{} or 7", "-{}", "{}!", "sqrt({})", "{}x", "1/{}", "minus {}"]
)
def test_other_numbers_are_not_gold(answer: str) -> None:
    rows = numbers(lambda n: answer.format(n))
    assert not any(check.name == "notation" for check in find_checks(votes_of_rows(rows)))


def test_a_model_whose_answers_have_another_shape_is_misread_and_a_weak_one_is_not() -> None:
    rng = np.random.default_rng(5)
    for writes, severity in (
        (lambda _: f"word {rng.integers(9)}", "error"),
        (lambda _: f"{rng.integers(999)}", "warning"),
    ):
        found = [check for check in find_checks(votes_of_rows(numbers(writes))) if check.severity != "note"]
        assert [(check.name, check.severity) for check in found] == [("never_right", severity)]


def test_one_vote_differs() -> None:
    rows = numbers(str)
    gold = rows[-1][3]
    check = named(find_checks(votes_of_rows([*rows[:-1], (*rows[-1][:2], f"{gold}.0", gold)])), "spelling")
    assert "1 vote (under 1%) differs from gold only in spelling, and counts as wrong" in check.message
