"""Hypothesis strategies: small corpora with ties, ragged counts, abstentions that win and gold that nobody names."""

from __future__ import annotations

from collections import Counter

from hypothesis import strategies as st

from twin import Corpus

ANSWERS: tuple[str | None, ...] = ("A", "B", "C", None)


@st.composite
def corpora(draw: st.DrawFn, models: int = 2, questions: int = 5, samples: int = 4, missing: bool = True) -> Corpus:
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
                draw(st.lists(st.sampled_from(ANSWERS), min_size=number, max_size=number))
            )
    return Corpus(ballots, {question: draw(st.sampled_from(["A", "B", "never voted for"])) for question in ids})


weights = st.fractions(min_value=0, max_value=30, max_denominator=30)
