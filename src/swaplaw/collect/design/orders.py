"""The answer-order schedule: in which order an epoch shows a question's options, the same for every model.

The paper randomises answer positions "with a balanced schedule shared across models; for 4-option questions the 24
samples cover all 24 orderings exactly once". Here an order is a pure function of seed, question, epoch and number of
options, so neither models nor runs nor the number of samples can change it, and every first N epochs are balanced.

The K! orders fall into (K - 1)! Latin squares of K orders each: the zigzag 0, 1, K-1, 2, K-2, … shifted K times round
the circle, with the options laid round it in one of (K - 1)! ways. Epochs go through square after square, so

- every option stands at every position floor or ceil of N/K times, and therefore two orders agree in as few
  positions, on average, as balance allows (none within a square);
- no order comes twice before all K! have come;
- for even K, every option directly follows every other exactly once within a square (Williams 1949).
"""

from __future__ import annotations

from math import factorial, gcd

from swaplaw.collect.design.keyed import keyed
from swaplaw.errors import InputError, quote

FEWEST_OPTIONS, MOST_OPTIONS = 2, 26
"""Options are named by the letters A to Z."""


def order(seed: int, question: str, epoch: int, options: int) -> tuple[int, ...]:
    """Return the order that an epoch (from 1 on) shows: position i holds canonical option `order[i]`.

    >>> sorted(order(1, "q1", epoch, 3) for epoch in range(1, 7))
    [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
    """
    if not FEWEST_OPTIONS <= options <= MOST_OPTIONS:
        raise InputError(f"a question with {quote(options)} options cannot be shown: show 2 to 26")
    if epoch < 1:
        raise InputError(f"epoch {quote(epoch)}: epochs count from 1")
    key = (int(seed), str(question), int(options))
    block, row = divmod(epoch - 1, options)
    round_, number = divmod(block, factorial(options - 1))
    circle = _circle(options, _square(key, round_, number))
    # Shifts come in a different order in every square, or the first option of one would tell the rest.
    shift = sorted(range(options), key=lambda shift: keyed(*key, "shift", block, shift))[row]
    return tuple(circle[(place + shift) % options] for place in _zigzag(options))


def _square(key: tuple[int, str, int], round_: int, number: int) -> int:
    """Which of the squares comes at this place of a round: steps prime to their number reach every one once."""
    squares = factorial(key[2] - 1)
    start = keyed(*key, "start", round_)
    step = attempt = 0
    while gcd(step, squares) != 1:
        step, attempt = keyed(*key, "step", round_, attempt) % squares, attempt + 1
    return (start + number * step) % squares


def _circle(options: int, rank: int) -> list[int]:
    """Lay the options round a circle in the way that has this rank (in factorial digits), option 0 first."""
    rest, circle = list(range(1, options)), [0]
    for left in range(options - 1, 0, -1):
        rank, digit = divmod(rank, left)
        circle.append(rest.pop(digit))
    return circle


def _zigzag(options: int) -> list[int]:
    """0, 1, K-1, 2, K-2, …: all steps between neighbours differ when K is even."""
    return [(place + 1) // 2 if place % 2 else -(place // 2) % options for place in range(options)]
