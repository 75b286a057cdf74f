"""Hypothesis strategies: small corpora with ties, ragged counts, abstentions that win and gold that nobody names."""

from __future__ import annotations

from collections import Counter

from hypothesis import strategies as st

from support.twin import Corpus

ANSWERS: tuple[str | None, ...] = ("A", "B", "C", None)


@st.composite
def corpora(
    draw: st.DrawFn,
    models: int = 2,
    questions: int = 5,
    samples: int = 4,
    missing: bool = True,
    answers: tuple[str | None, ...] = ANSWERS,
) -> Corpus:
    names = [chr(ord("a") + index) * 2 for index in range(models)]
    ids = [f"q{index}" for index in range(draw(st.integers(1, questions)))]
    even = draw(st.booleans())
    counts = {name: draw(st.integers(1, samples)) for name in names}
    ballots: dict[str, dict[str, Counter[str | None]]] = {name: {} for name in names}
    for name in names:
        for question in ids:
            if missing and question != ids[0] and draw(st.integers(0, 9)) == 0:
                continue
            number = counts[name] if even else draw(st.integers(1, samples))
            ballots[name][question] = Counter(
                draw(st.lists(st.sampled_from(answers), min_size=number, max_size=number))
            )
    return Corpus(ballots, {question: draw(st.sampled_from(["A", "B", "never voted for"])) for question in ids})


weights = st.fractions(min_value=0, max_value=30, max_denominator=30)


def corpus(gold: str, a: str, b: str) -> Corpus:
    """One question per word; a letter is a vote, '-' an abstention."""
    words = [[[None if v == "-" else v for v in word] for word in votes.split()] for votes in (a, b)]
    ballots = {
        name: {f"q{i}": Counter(word) for i, word in enumerate(votes)} for name, votes in zip("ab", words, strict=True)
    }
    return Corpus({"aa": ballots["a"], "bb": ballots["b"]}, {f"q{i}": g for i, g in enumerate(gold.split())})


ODD = {
    "both tie, and tie together": corpus("A A", "AB AB", "BA BC"),
    "ragged counts": corpus("A B", "AAB B", "A ABBBC"),
    "abstention wins": corpus("A A", "--A A-", "A-- ---"),
    "gold that nobody names": corpus("Z A", "AB AA", "BC AB"),
    "one sample": corpus("A B C", "A B A", "A A C"),
    "identical models": corpus("A B A", "AB BB C-", "AB BB C-"),
    "p = q": corpus("A A", "AA BB", "BB AA"),
    "p = 1": corpus("A A", "AA AB", "BB AA"),
    "q = 0": corpus("A A", "AA AB", "BB CC"),
    "everyone always right": corpus("A B", "AA BB", "A BBB"),
}
"""Small corpora, each odd in its own way."""
