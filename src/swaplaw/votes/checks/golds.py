"""Golds that no vote can be compared with: several answers in one, a grade, one option everywhere, a judge's word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from swaplaw.answers.forms import letter as option_letter
from swaplaw.errors import quote, several
from swaplaw.votes.checks.seen import CHAINS, SERIOUS, SURE, Check, Seen, form, texts_of, total, where
from swaplaw.votes.checks.silence import is_no_answer
from swaplaw.votes.summary import summary

if TYPE_CHECKING:
    import polars as pl

    from swaplaw.votes.table import Votes

LONGEST_GOLD = 200
"""Longer golds are texts, not options side by side."""
LIKELY = 2.0
"""Standard errors above chance within which the best model may be guessing."""
UNIQUE = 0.8
"""Share of wrong answers that nobody repeats, from which on answers are prose."""
REPEATED, FEW_PROSE = 2, 10
"""Wrong answers of a model on a question, and how many such questions, that it takes to tell."""
WORDY = 4
"""Words of an answer from which on it is prose: two models seldom give the same short wrong answer by themselves."""
FORMULA = 5
"""A wrong answer to this many questions is a formula ("I do not know"), and says nothing of how others are worded."""
SEEN = 0.005
"""By how much a vote must be above a single sample to be called inflated."""
SOME = 0.1
"""Share of golds that must be numbers where wrong answers are."""
MANY_GOLDS = 8
"""Different golds that it takes to tell what right answers look like."""
LONGEST = 2000
"""Characters of a text whose words are counted."""
MOST_SPELLINGS = 5_000
"""Spellings that are compared."""
LOOKED_AT = 1000
"""Texts of a kind that are looked at."""
FAR = 4.0
"""Standard errors between the two kinds of questions before they count as different."""
_APART = re.compile(r"\s+or\s+|\s*[|;]\s*|\s*,\s*(?:or\s+)?|\s*/\s*", re.IGNORECASE)
_APART_NUMBERS = re.compile(r"\s+or\s+|\s*[|;]\s*", re.IGNORECASE)
"""A comma or a slash between numbers may make one number of them."""
_AROUND = " \t\n[](){}\"'`"
_GRADES = {
    frozenset(pair)
    for pair in (("1", "0"), ("1.0", "0.0"), ("correct", "incorrect"), ("true", "false"), ("pass", "fail"),
                 ("passed", "failed"), ("right", "wrong"), ("c", "i"))
}  # fmt: skip
_BINARY = {"yes", "no", "true", "false"}
_NUMBER = re.compile(r"[-+$]?[\d.,/ ]+\w{0,3}")
_QUANTITY = re.compile(r"\W{0,4}\d[\d.,:/%eE+-]*(?:[^\W\d_]*\W*){0,3}|[0-9a-f]{6,}", re.IGNORECASE)
"""A number with a unit, a time, a date, a digest."""
_FORMULA = re.compile(r"(?=.*\d)(?=.*[-+*/^=(){}\[\],\\&])(?!.*(?<!\\)\b[^\W\d_]{4,}).{1,120}", re.DOTALL)
"""Numbers and signs without a word: a tuple, an expression, a matrix."""
_LATEX = re.compile(r"(?<=\\begin)\{\w{1,20}\*?\}|(?<=\\end)\{\w{1,20}\*?\}")
"""The names of LaTeX's environments, which are no words."""
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""Characters of languages that put no blanks between words."""
_ITEMS = re.compile(r"[,;]")


def alternatives(gold: str) -> list[str]:
    """The parts of a gold that names several answers, or nothing.

    >>> alternatives("A or C"), alternatives('["A","C"]'), alternatives('["A"]'), alternatives("3,5")
    (['A', 'C'], ['A', 'C'], [], [])
    """
    if len(gold) > LONGEST_GOLD:
        return []
    numeric = not any(map(str.isalpha, _APART_NUMBERS.sub("", gold)))
    apart = _APART_NUMBERS if numeric else _APART
    parts = [part.strip(_AROUND) for part in apart.split(gold.strip(_AROUND))]
    return parts if len(parts) > 1 and all(parts) else []


def several_golds(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Golds that join answers which stand alone elsewhere, where nobody ever answers with several."""
    parts = {gold: [] if is_no_answer(gold) else alternatives(gold) for gold in sorted(seen.golds)}
    alone = {gold for gold, several in parts.items() if not several}
    # A list that somebody answers with is an answer of its own kind; grades may say that each of its parts is right.
    given = set(texts_of(seen.answered)) | set(seen.right["gold"].cast(str))
    joined = [
        gold
        for gold, several in parts.items()
        if several
        and gold not in given
        and all(part in alone or (len(part) == 1 and part.isalpha()) for part in several)
    ]
    if not joined:
        return
    n = seen.rows.filter(seen.rows["gold"].cast(str).is_in(joined))["question"].n_unique()
    yield seen.check(
        "several_golds", "error" if n >= SERIOUS * seen.questions else "warning", None, n,
        f"gold is {quote(joined[0])} or another list of answers on {several(n, 'question')}: a vote can only be "
        "compared with one answer, so no vote on them is right",
        "give each of these questions one gold, or leave them out",
    )  # fmt: skip


def one_gold(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Gold that is a grade, or one and the same option on every question."""
    if len(seen.golds) != 1 or seen.questions < SURE:
        return
    (gold,) = seen.golds
    said = {text.strip().casefold() for text in texts_of(seen.answered)} | {gold.strip().casefold()}
    if said in _GRADES:
        yield seen.check(
            "grades_as_answers", "error", None, seen.questions,
            f"gold is {quote(gold)} on every question and answers are only {' or '.join(map(quote, sorted(said)))}: "
            "these are grades, not answers, and a vote among grades would know what is right",
            "put what the models answered in the column `answer` and the grade in the column `correct` "
            "(docs/votes.md); grades alone give each model's accuracy (`swaplaw summary`), and no vote",
        )  # fmt: skip
    elif (len(option_letter(gold)) == 1 and gold.strip().isalpha()) or gold.strip().casefold() in _BINARY:
        yield seen.check(
            "constant_gold", "warning", None, seen.questions,
            f"gold is {quote(gold)} on every question, so a model that always says so would be right",
            "check the column `gold`; if the right option always stood in the same place, ask in other orders",
        )  # fmt: skip


def at_chance(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Options that no model knows better than guessers do: gold may be that of other questions."""
    if not seen.closed or seen.questions < SURE or not seen.anybody_right:
        return
    chance = 1 / len(seen.golds)
    best, said = max(
        ((model, said) for model, said in seen.models.items() if said.answers), key=lambda each: each[1].share
    )
    if said.share <= chance + LIKELY * (chance * (1 - chance) / said.asked) ** 0.5:
        yield seen.check(
            "at_chance", "warning", None, seen.questions,
            f"no model is surely right more often than guessing would be (in about {chance:.0%} of its answers): the "
            f"best, {quote(best)}, is in {said.share:.0%}",
            "check that the column `gold` belongs to these questions, and names options as the answers do",
        )  # fmt: skip


def gold_at_fault(seen: Seen) -> bool:
    """Whether nobody is right because answers are letters and golds are not: then no model is to blame."""
    if seen.anybody_right or not seen.golds or any(map(is_letter, seen.golds)):
        return False
    return total(where(seen.answered, is_letter)) >= (1 - SERIOUS) * max(1, total(seen.answered))


def is_letter(text: str) -> bool:
    """Whether a text is the letter of an option, however it is written.

    >>> is_letter("B"), is_letter("(b) Paris"), is_letter("Paris"), is_letter("2")
    (True, True, False, False)
    """
    found = option_letter(text.strip())
    return len(found) == 1 and found.isalpha()


def graded_prose(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Right answers that all agree, and wrong ones that never do: a judge, not the models, made them agree."""
    import polars as pl

    if not seen.anybody_right or len(_spelt_apart(seen)):
        return  # Nobody made right answers agree: there are none, or they differ.
    worded = _worded(seen)
    lone, votes = pl.col("votes") == 1, pl.col("votes").sum()
    each = worded.group_by("asked").agg(votes, lone.sum().alias("lone")).filter(pl.col("votes") >= REPEATED)
    once = int(each["lone"].sum()) / max(1, total(each))
    if len(each) < FEW_PROSE or once < UNIQUE:
        return
    texts = worded.filter(lone)["answer"].head(LOOKED_AT).to_list()
    # What right answers look like: golds, or the texts graded right, which are one for every question.
    right = (sorted(seen.golds) or texts_of(seen.right))[:LOOKED_AT]
    numeric = _numbers(texts) > 0.5 and (len(right) < MANY_GOLDS or _numbers(right) >= SOME)
    if numeric or _like_gold(texts, right):
        return
    fleet = summary(seen.tally(merge_right=True))
    most = max(sorted(fleet, key=lambda row: row.model), key=lambda row: row.plurality - row.single)
    inflated = most.plurality > most.single + Fraction(SEEN)
    vote = (
        f", its plurality vote {float(most.plurality):.1%}" if inflated else "; any vote among texts would be inflated"
    )
    yield seen.check(
        "graded_prose", "error", most.model, len(each),
        f"right answers agree with each other and {once:.0%} of the wrong ones "
        "are given once only, as if a judge had replaced every right text by gold: a single sample of "
        f"{quote(most.model)} is right {float(most.single):.1%} of the time{vote}; nobody could count such "
        "a vote in deployment",
        "put the texts that the models wrote in the column `answer`, right or wrong, and compare them by a rule that "
        "needs no gold (`--canonical text`), or ask for short answers",
    )  # fmt: skip


def _spelt_apart(seen: Seen) -> pl.DataFrame:
    """The right answers to questions that have several, in the order of the questions."""
    import polars as pl

    spellings = seen.right.select("question", "answer").unique().filter(pl.len().over("question") > 1)
    return spellings.sort("question", "answer")


def _worded(seen: Seen) -> pl.DataFrame:
    """How often each wrong answer was given to each question, leaving out options and formulas: asked, answer, votes.

    By each model, since whoever answers in a word repeats it; by all models together where each answered once, and then
    only answers of several words.
    """
    import polars as pl

    once = total(seen.rows) == seen.rows.select(pl.struct("model", "question").n_unique()).item()
    asked = pl.struct("question") if once else pl.struct("model", "question")
    worded = seen.wrong.group_by(asked.alias("asked"), "question", "answer").agg(pl.col("votes").sum())
    rare = worded.filter(pl.col("question").n_unique().over("answer") < FORMULA).sort("question", "asked", "answer")
    return where(rare, lambda text: not (once and _words(text) < WORDY) and not (seen.closed and seen.is_option(text)))


def _numbers(texts: list[str]) -> float:
    """The share of numbers, quantities and formulas: these differ as answers, whoever compares them."""
    number = form("math")

    def counts(text: str) -> bool:
        bare = _LATEX.sub("", text)
        return any(kind.fullmatch(bare) for kind in (_QUANTITY, _FORMULA)) or bool(_NUMBER.fullmatch(number(text)))

    return sum(map(counts, texts)) / max(1, len(texts))


def _like_gold(texts: list[str], golds: list[str]) -> bool:
    """Whether most wrong answers could be golds of other questions: an open task with short answers.

    Golds must vary, and wrong answers must have as many words, about the length and no other kinds of characters. A
    wrong answer that is some word and a number ("wrong-17") tells itself from every gold by its word.
    """
    if len(golds) < MANY_GOLDS:
        return False
    shapes: dict[int, list[str]] = {}
    for gold in golds:
        shapes.setdefault(_words(gold), []).append(gold)
    known = {
        words: (min(map(len, alike)), max(map(len, alike)), set[str]().union(*map(_kinds, alike)))
        for words, alike in shapes.items()
        if words < WORDY
    }

    def alike(text: str) -> bool:
        least, most, kinds = known.get(_words(text), (1, 0, set()))
        return least <= 2 * len(text) and len(text) <= 2 * most and _kinds(text) <= kinds

    stem, often = Counter(map(_stem, texts)).most_common(1)[0]
    labelled = 2 * often > len(texts) and len(stem) > 2 and stem not in set(map(_stem, golds))
    return not labelled and 2 * sum(map(alike, texts)) > len(texts)


def _words(text: str) -> int:
    """About how many words a text has, or the longest item of a list: a list of names is no sentence.

    >>> _words("Oslo, Rome, Paris, Bern"), _words("it rains in Rome"), _words("水在压力下移动因为细胞分裂")
    (1, 4, 5)
    """
    return max(len(item.split()) + len(_UNSPACED.findall(item)) // 3 for item in _ITEMS.split(text[:LONGEST]))


def _kinds(text: str) -> set[str]:
    """The kinds of characters of a text: capitals, other letters, digits, and each sign by itself."""
    return {
        "0" if char.isdigit() else ("A" if char.isupper() else "a") if char.isalpha() else char
        for char in text
        if not char.isspace()
    }


def _stem(text: str) -> str:
    """The letters of a text."""
    return "".join(filter(str.isalpha, text)).casefold()


def right_spellings(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Right answers that are spelt in several ways, and so split the vote; and what would make them one."""
    pairs = _spelt_apart(seen).rows()
    if not pairs:
        return
    as_spelt = {row.model: row.plurality for row in summary(seen.tally())}
    merged = {row.model: row.plurality for row in summary(seen.tally(merge_right=True))}
    model = max(seen.models, key=lambda name: merged[name] - as_spelt[name])
    chain, left = min(
        ((chain, len({(asked, form(chain)(text)) for asked, text in pairs[:MOST_SPELLINGS]})) for chain in CHAINS),
        key=lambda each: each[1],
    )
    spellings, n = min(len(pairs), MOST_SPELLINGS), len({question for question, _ in pairs})
    yield seen.check(
        "right_spellings", "warning" if merged[model] - as_spelt[model] > SEEN else "note", None, n,
        f"right answers to {several(n, 'question')} are spelt in several ways, such as {quote(pairs[0][1])} and "
        f"{quote(pairs[1][1])}, and split the vote: as spelt, {quote(model)} is right {float(as_spelt[model]):.1%} of "
        f"the time, and would be {float(merged[model]):.1%} of the time if its right answers were one, which takes "
        "knowing gold",
        f"`--canonical {chain}` makes {left:,} of these {spellings:,} spellings"
        if left < spellings
        else "no canonical form makes them one: read short answers from replies (`--read`), or let a model judge which "
        "mean the same (`swaplaw import VOTES --judge MODEL -o votes.parquet`)",
    )  # fmt: skip


def chosen_labels(votes: Votes, dataset: str) -> Iterator[Check]:
    """Labels on questions that differ from the others: what they show is not true of all."""
    import polars as pl

    if not votes.counts["gold"].null_count():
        return
    counts = votes.counts.filter(pl.col("dataset") == dataset)
    said = counts.group_by("question", "answer").agg(pl.col("votes").sum(), pl.col("gold").is_not_null().any())
    each = said.group_by("question").agg(
        (pl.col("votes").max() / pl.col("votes").sum()).alias("agreed"), pl.col("gold").any()
    )
    known, unknown = (each.filter(pl.col("gold") == have)["agreed"].to_numpy() for have in (True, False))
    n, rest = len(known), len(unknown)
    if min(n, rest) < 2:
        return
    own, other = known.mean(), unknown.mean()
    error = (known.var(ddof=1) / n + unknown.var(ddof=1) / rest) ** 0.5
    if abs(own - other) > FAR * error:
        yield Check(
            "chosen_labels", "warning", None, rest,
            f"the {n:,} questions with a label are not like the {rest:,} without: {own:.0%} of votes agree on "
            f"them, {other:.0%} on the others; accuracies and gains here are those of the labelled ones",
            "judge lift by `labels`, which needs no others; or label questions that are drawn at random from all",
            dataset,
        )  # fmt: skip
