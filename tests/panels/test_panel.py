"""The law over 2^k cells against its plain twin; for two members it is the pair's law."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import swaplaw as sl

from support.corpora import corpora, weights
from support.panel_twin import panel_law, tally_of
from support.twin import Corpus


@given(case=st.one_of(corpora(models=3), corpora(models=4, questions=3)), xs=st.tuples(weights, weights, weights))
def test_cells_equal_their_twin(case: Corpus, xs: tuple[Fraction, ...]) -> None:
    chosen = sl.panel(tally_of(case), sorted(case.ballots))
    chosen_weights = (Fraction(1), *xs[: len(chosen.members) - 1])
    at, plain = chosen.at(chosen_weights), panel_law(case, chosen.members, chosen_weights)
    assert {cell.right: (cell.mass, cell.contribution) for cell in at.cells} == plain.cells
    assert at.lift == plain.lift == sum(cell.contribution for cell in at.cells)
    assert sum(cell.mass for cell in at.cells) == 1
    assert at.lift == at.swap + at.residual
    assert at.accuracy == plain.p + plain.lift
    assert (chosen.union.p, chosen.union.q, chosen.union.rescue) == (plain.p, plain.union, plain.union_rescue)


@given(case=st.one_of(corpora(models=3), corpora(models=4, questions=3)), xs=st.tuples(weights, weights, weights))
def test_rates_and_union_identities(case: Corpus, xs: tuple[Fraction, ...]) -> None:
    chosen = sl.panel(tally_of(case), sorted(case.ballots))
    at = chosen.at((1, *xs[: len(chosen.members) - 1]))
    # Lift is what the rates make of the masses: gained where the primary is wrong, lost where it is right.
    total = Fraction(0)
    for cell in at.cells:
        assert (cell.rate is None) == (cell.mass == 0)
        total += (cell.rate or 0) * cell.mass * (-1 if chosen.primary in cell.right else 1)
    assert total == at.lift
    union = chosen.union
    if union.phi_adj is not None:
        assert union.rescue == union.q * (1 - union.p) * (1 - union.phi_adj)
    else:
        assert union.q == 0 or union.p == 1
    for secondary, q in zip(chosen.members[1:], chosen.accuracies[1:], strict=True):
        masses = chosen.masses(secondary)
        assert masses.q == q <= chosen.accuracies[0]
        assert masses.damage == masses.rescue + masses.gap
        assert masses.rescue <= union.rescue


@given(case=corpora(models=2), x=weights)
def test_two_members_are_a_pair(case: Corpus, x: Fraction) -> None:
    tally = tally_of(case)
    pair = next(iter(sl.pairs(tally)))
    chosen = sl.panel(tally, ["aa", "bb"])
    assert chosen.members == (pair.primary, pair.secondary)
    ours, theirs = chosen.at([1, x]), pair.at(x)
    assert chosen.union == pair.masses == chosen.masses(pair.secondary)
    for name in ("rescued", "damaged", "repaired", "corrupted", "swap", "residual", "lift", "accuracy"):
        assert getattr(ours, name) == getattr(theirs, name), name
    rates = {cell.kind: cell.rate for cell in ours.cells}
    assert rates == {
        "rescued": theirs.alpha,
        "damaged": theirs.gamma,
        "repaired": theirs.beta,
        "corrupted": theirs.kappa,
    }


def test_weights_by_name_and_scale() -> None:
    chosen = sl.panel(sl.demo_votes().tally(), ["gpt-4", "gpt-35-turbo", "mistral-large"])
    by_name = chosen.at(dict(zip(chosen.members[1:], ("1/2", "1/3"), strict=True)))
    assert by_name == chosen.at([1, "1/2", "1/3"]) == chosen.at([6, 3, 2])
    assert by_name.weights == (Fraction(1), Fraction(1, 2), Fraction(1, 3))


def test_misuse_is_answered_clearly() -> None:
    tally = sl.demo_votes().tally()
    trio = tally.models[:3]
    with pytest.raises(sl.InputError, match="more than once"):
        sl.panel(tally, [*trio, trio[0]])
    with pytest.raises(sl.InputError, match="there is no model 'nobody'"):
        sl.panel(tally, ["nobody", trio[0]])
    with pytest.raises(sl.InputError, match="name 2 to 8 members"):
        sl.panel(tally, trio[:1])
    chosen = sl.panel(tally, trio)
    with pytest.raises(sl.InputError, match="2 weights for 3 members"):
        chosen.at([1, 1])
    with pytest.raises(sl.InputError, match="has weight 0"):
        chosen.at([0, 1, 1])
    with pytest.raises(sl.InputError, match="the panel has"):
        chosen.at({"nobody": 1})
    with pytest.raises(sl.InputError, match="negative"):
        chosen.at([1, 1, -1])


def test_masses_are_those_of_a_secondary() -> None:
    chosen = sl.panel(sl.demo_votes(), ["gpt-4", "mistral-large"])
    assert chosen.masses("mistral-large") == sl.pair(sl.demo_votes(), "gpt-4", "mistral-large").masses
    for name in ("gpt-4", "gpt-5"):
        with pytest.raises(sl.InputError, match=f"no secondary '{name}'; there are 'mistral-large'"):
            chosen.masses(name)
