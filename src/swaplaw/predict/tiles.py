"""S-hat of a fleet that no machine holds: tile by tile, from a tally on disk.

A tile is a block of models against another. Whoever works on it reads the counts of those models alone, from the
tally's files, scores them, and multiplies; of its pairs only the most promising are kept. So memory follows two blocks
of models, tiles can be shared among any workers, and the numbers are those of `screen`, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from swaplaw._core.arrays import Floats, Ints
from swaplaw._core.parallel import Crew, Progress, Workers
from swaplaw.errors import InputError, quote
from swaplaw.predict.law_file import Law
from swaplaw.predict.screen import Screen, score_table
from swaplaw.votes.tally_folder import MANIFEST, TallyFolder, digest_of, read_tally

TILE = 512
"""Models of a block."""


def screen_tiles(
    path: str | Path,
    law: Law,
    *,
    dataset: str | None = None,
    best: int = 10_000,
    tile: int = TILE,
    workers: Workers = None,
    progress: Progress = iter,
) -> Screen:
    """Predict the lift of all pairs of a tally on disk, and keep the most promising ones.

    Parameters
    ----------
    path : str or Path
        A folder that `write_tally` wrote; workers must be able to read it.
    law : Law
        Conversion rates, frozen on other votes by `calibrate`.
    dataset : str, optional
        Which dataset, where the tally holds several.
    best : int
        How many pairs to keep.
    tile : int
        How many models a block has. The numbers do not depend on it.
    workers
        Who shares the tiles.
    progress : callable
        Wraps the tiles as they are done.

    Returns
    -------
    Screen
        The most promising pairs with the numbers that `screen` gives them.

    Raises
    ------
    InputError
        If the folder is not a tally, or has only one model.

    Examples
    --------
    >>> import tempfile
    >>> import swaplaw as sl
    >>> law = sl.calibrate(sl.demo_votes(), replicates=200)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = sl.votes.write_tally(sl.demo_votes(), f"{folder}/tally")
    ...     found = sl.predict.screen_tiles(written.path, law, best=3)
    >>> len(found), found.to_frame()["secondary"][0]
    (3, 'gemini-1.0-pro')
    """
    folder = read_tally(path)
    fleet = _Fleet(str(path), folder.number(dataset), digest_of(folder.path / MANIFEST))
    models = tuple(fleet.known["models"])
    if len(models) < 2:
        raise InputError(f"dataset {quote(fleet.known['dataset'])} has only one model; a pair needs two")
    crew = Crew(workers)
    blocks = [(first, min(first + tile, len(models))) for first in range(0, len(models), tile)]
    facts = list(crew.share(_facts, fleet, blocks, progress=progress))
    sizes = sorted({size for found in facts for size in found if size})
    scale, worth, width = score_table(sizes, fleet.questions, len(models))
    tiles = [(one, other) for place, one in enumerate(blocks) for other in blocks[place:]]
    work = _Tiles(fleet, scale, worth, width, law.alpha, law.gamma, best)
    kept = _best(crew.share(_Tiles.of, work, tiles, progress=progress), best)
    if not kept.shape[1]:
        raise InputError(f"no two models of dataset {quote(fleet.known['dataset'])} have a question in common")
    predicted, primary, secondary, p, q, rescue = kept
    return Screen(models, primary.astype(np.int64), secondary.astype(np.int64), p, q, rescue, predicted)


@dataclass(frozen=True)
class _Fleet:
    """One dataset of a tally on disk: where it is, not what is in it."""

    path: str
    number: int
    digest: str
    """Of its manifest: what is kept of one tally is not taken for another that was written in its place."""

    @property
    def folder(self) -> TallyFolder:
        return _opened(self)

    @property
    def known(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = self.folder.manifest["datasets"][self.number]
        return found

    @property
    def questions(self) -> int:
        """Questions with a label."""
        return int((_golds(self) != _UNLABELLED).sum())


@lru_cache(maxsize=4)
def _opened(fleet: _Fleet) -> TallyFolder:
    return read_tally(fleet.path)


_UNLABELLED, _UNNAMED = -2, -1
"""Instead of the number of a gold answer: there is none, or nobody ever gave it."""


@lru_cache(maxsize=4)
def _golds(fleet: _Fleet) -> Ints:
    """The number of each question's gold answer."""
    import polars as pl

    questions, texts, _ = fleet.folder.whole(fleet.number, [])
    gold = pl.read_parquet(questions).get_column("gold")
    answers = pl.read_parquet(texts)["answer"]
    numbers = gold.replace_strict(answers, pl.int_range(len(answers), eager=True), default=_UNNAMED)
    found: Ints = pl.select(pl.when(gold.is_null()).then(_UNLABELLED).otherwise(numbers)).to_series().to_numpy()
    return found.astype(np.int64)


@lru_cache(maxsize=3)
def _ties(fleet: _Fleet, block: tuple[int, int]) -> Ints:
    """Tie sizes of a block of models on the questions with a label: 0 where gold loses, -1 where never answered."""
    _, _, files = fleet.folder.whole(fleet.number, range(*block))
    return np.stack([_tie_sizes(fleet, file) for file in files])


def _tie_sizes(fleet: _Fleet, file: Path) -> Ints:
    import polars as pl

    gold = _golds(fleet)
    counts = pl.read_parquet(file)
    question = counts["question"].to_numpy().astype(np.int64)
    answer = counts["answer"].cast(pl.Int64).fill_null(-3).to_numpy()
    graded = "correct" in counts.columns
    right = counts["correct"].fill_null(False).to_numpy() if graded else answer == gold[question]
    votes = counts["votes"].to_numpy().astype(np.int64)
    named = np.bincount(question[right], votes[right], minlength=len(gold)).astype(np.int64)
    # Rows are sorted by question and answer; one answer may have several, by the reason of an abstention.
    wrong = np.flatnonzero(~right)
    new = np.ones(len(wrong), dtype=bool)
    new[1:] = (question[wrong][1:] != question[wrong][:-1]) | (answer[wrong][1:] != answer[wrong][:-1])
    rivals = np.add.reduceat(votes[wrong], np.flatnonzero(new)) if len(wrong) else np.zeros(0, dtype=np.int64)
    owner = question[wrong][new]
    most = np.zeros(len(gold), dtype=np.int64)
    np.maximum.at(most, owner, rivals)
    level = np.bincount(owner[rivals == named[owner]], minlength=len(gold))
    ties = np.where(most > named, 0, 1 + level)
    ties[np.bincount(question, minlength=len(gold)) == 0] = -1
    found: Ints = ties[gold != _UNLABELLED].astype(np.int16)
    return found


def _facts(fleet: _Fleet, block: tuple[int, int]) -> list[int]:
    """Which tie sizes occur in a block."""
    return [int(size) for size in np.unique(_ties(fleet, block)) if size > 0]


@dataclass(frozen=True)
class _Tiles:
    """What it takes to screen a tile."""

    fleet: _Fleet
    scale: int
    worth: Floats = field(repr=False)
    width: int
    alpha: float
    gamma: float
    best: int

    def of(self, tile: tuple[tuple[int, int], tuple[int, int]]) -> Floats:
        """The most promising pairs of a tile: predicted, primary, secondary, p, q and rescue of each."""
        first, second = (_ties(self.fleet, block) for block in tile)
        both, common, right_a, right_b = self._sums(first, second)
        a, b = np.nonzero(common)
        if tile[0] == tile[1]:
            a, b = a[a < b], b[a < b]
        return self._kept(tile, a, b, both, common, right_a, right_b)

    def _sums(self, first: Ints, second: Ints) -> tuple[Floats, Floats, Floats, Floats]:
        """Products of scores, questions in common, and each side's scores on them: first models x second ones."""
        sums = np.zeros((4, len(first), len(second)))
        for start in range(0, first.shape[1], self.width):
            part = slice(start, start + self.width)
            scores, asked = zip(*(self._scores(ties[:, part]) for ties in (first, second)), strict=True)
            sums[0] += scores[0] @ scores[1].T
            sums[1] += asked[0] @ asked[1].T
            sums[2] += scores[0] @ asked[1].T
            sums[3] += asked[0] @ scores[1].T
        return sums[0], sums[1], sums[2], sums[3]

    def _scores(self, ties: Ints) -> tuple[Floats, Floats]:
        return self.worth.take(np.maximum(ties, 0)), (ties >= 0).astype(self.worth.dtype)

    def _kept(
        self,
        tile: tuple[tuple[int, int], tuple[int, int]],
        a: Ints,
        b: Ints,
        both: Floats,
        common: Floats,
        right_a: Floats,
        right_b: Floats,
    ) -> Floats:
        one, other = right_a[a, b], right_b[a, b]
        unit = common[a, b] * self.scale
        # The more accurate model leads; of equals the first by name.
        turned = other > one
        models = a + tile[0][0], b + tile[1][0]
        primary, secondary = np.where(turned, models[1], models[0]), np.where(turned, models[0], models[1])
        high, low = np.where(turned, other, one), np.where(turned, one, other)
        rescue = (low * self.scale - both[a, b]) / (unit * self.scale)
        p, q = high / unit, low / unit
        predicted = (self.alpha - self.gamma) * rescue - self.gamma * (p - q)
        return _best([np.stack([predicted, primary, secondary, p, q, rescue])], self.best)


def _best(found: Iterable[Floats], most: int) -> Floats:
    """The most promising of several lots of pairs; of equals those whose models come first."""
    kept: Floats = np.zeros((6, 0))
    for lot in found:
        kept = np.concatenate([kept, lot], axis=1)
        order = np.lexsort((kept[2], kept[1], -kept[0]))[:most]
        kept = kept[:, order]
    return kept
