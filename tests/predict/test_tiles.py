"""S-hat tile by tile from a tally on disk: the numbers of `screen`, whatever the tiles and whoever works on them."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings

import swaplaw as sl
from swaplaw.predict import Law, Screen, screen_tiles
from swaplaw.votes import write_tally

from support.corpora import corpora
from support.twin import Corpus

LAW = Law(Fraction(2, 3), 0.335, 0.138, 1.0, {}, {}, {}, {})


def numbers(found: Screen) -> dict[tuple[int, int], tuple[float, ...]]:
    columns = (found.p, found.q, found.rescue, found.predicted)
    pairs = zip(found.primary.tolist(), found.secondary.tolist(), strict=True)
    return {pair: tuple(float(column[place]) for column in columns) for place, pair in enumerate(pairs)}


@given(case=corpora(models=4, questions=6))
@settings(max_examples=10, deadline=None)
def test_tiles_are_the_screen(case: Corpus, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("tally")
    votes = sl.votes_from(case.frame())
    write_tally(votes, folder / "tally")
    try:
        whole = numbers(sl.screen(votes, LAW))
    except sl.InputError:
        with pytest.raises(sl.InputError):
            screen_tiles(folder / "tally", LAW)
        return
    for tile in (1, 3, 512):
        assert numbers(screen_tiles(folder / "tally", LAW, tile=tile)) == whole


def test_the_best_are_kept_by_any_number_of_workers(tmp_path: Path) -> None:
    votes = sl.demo_votes()
    write_tally(votes, tmp_path / "tally")
    whole = sl.screen(votes, LAW)
    wanted = np.sort(whole.predicted)[::-1][:7]
    one, two = (screen_tiles(tmp_path / "tally", LAW, best=7, tile=4, workers=workers) for workers in (None, 2))
    assert (one.predicted == wanted).all()
    assert numbers(one) == numbers(two)
    assert one.predicted.tobytes() == two.predicted.tobytes()
    with pytest.raises(sl.InputError, match="there is no dataset 'other'"):
        screen_tiles(tmp_path / "tally", LAW, dataset="other")


def test_another_tally_in_the_same_place_is_read_anew(tmp_path: Path) -> None:
    frame = sl.demo_votes().frame.collect()
    for part in (frame, frame.filter(frame["question"] != frame["question"][0])):
        write_tally(sl.votes_from(part), tmp_path / "tally")
        assert numbers(screen_tiles(tmp_path / "tally", LAW)) == numbers(sl.screen(part, LAW))
        shutil.rmtree(tmp_path / "tally")
