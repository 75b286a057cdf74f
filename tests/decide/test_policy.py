"""The policy file: what is written is read, and what was changed is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.decide.policy import Fallback, Member, Policy, policy_from, read_policy
from swaplaw.errors import InputError

POLICY = Policy(
    (Member("gpt-4", Fraction(1), 24, 0.03), Member("claude\x1b[31m\u202e", Fraction(2, 3), 12)),
    "deploy_pair",
    {"held_out": {"lift": 0.021}},
    {"dataset": "exams", "questions": 100, "of": 100, "fingerprint": "sha256:0"},
    {"temperature": 0.8},
)


def test_it_round_trips(tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    POLICY.write(file)
    assert read_policy(file) == POLICY
    assert [path.name for path in tmp_path.iterdir()] == ["policy.json"]
    document = json.loads(file.read_text())
    assert [member["weight"] for member in document["members"]] == ["1", "2/3"]
    assert (document["schema"], document["version"]) == ("swaplaw.policy", 2)
    assert POLICY.cost is None


names = st.text(min_size=1, max_size=20)
members = st.lists(
    st.builds(
        Member,
        names,
        st.fractions(min_value=Fraction(1, 50), max_value=30),
        st.integers(1, 100),
        st.none() | st.floats(0, 10),
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda member: member.model,
)


@given(chosen=members, evidence=st.dictionaries(names, st.floats(allow_nan=False, allow_infinity=False) | names))
def test_any_policy_round_trips(chosen: list[Member], evidence: dict[str, Any]) -> None:
    policy = Policy(tuple(chosen), "deploy_pair", evidence, {})
    assert policy_from(json.loads(json.dumps(policy.to_dict()))) == policy


def test_serving_may_be_edited() -> None:
    document = POLICY.to_dict()
    document["serving"] = {"upstreams": {"gpt-4": {"base_url": "http://localhost:1"}}}
    assert policy_from(document).serving == document["serving"]


def changed(edit: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(POLICY.to_dict()))
    edit(document)
    return document


@pytest.mark.parametrize(
    "edit",
    [
        lambda d: d["members"][1].update(weight="3/4"),
        lambda d: d["members"][0].update(samples=1),
        lambda d: d["members"].reverse(),
        lambda d: d["members"].pop(),
        lambda d: d.update(verdict="deploy_single"),
        lambda d: d["evidence"]["held_out"].update(lift=0.2),
        lambda d: d["data"].update(fingerprint="sha256:1"),
        lambda d: d.update(digest="sha256:0"),
        lambda d: d.update(digest=None),
    ],
)
def test_a_changed_policy_is_refused(edit: Callable[[dict[str, Any]], Any]) -> None:
    with pytest.raises(InputError, match="changed after it was written"):
        policy_from(changed(edit), "policy.json")


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda d: d.update(schema="swaplaw.law"),
            "schema is 'swaplaw.law', expected 'swaplaw.policy'",
        ),
        (lambda d: d.update(version=3), "policy version 3, this swaplaw reads versions up to 2"),
        (lambda d: d.pop("silence"), "'silence' is missing"),
        (lambda d: d.pop("members"), "'members' is missing"),
        (lambda d: d.update(upstream=1), "'upstream' is not a part of a policy"),
        (lambda d: d.update(serving=[]), "serving is \\[\\], expected an object"),
    ],
)
def test_another_file_is_refused(edit: Callable[[dict[str, Any]], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        policy_from(changed(edit))


@pytest.mark.parametrize(
    ("member", "message"),
    [
        ({"model": "", "weight": "1", "samples": 1}, "the name of a model"),
        ({"model": "a", "weight": 1, "samples": 1}, "weight is 1, expected a fraction"),
        ({"model": "a", "weight": "1/0", "samples": 1}, "weight is '1/0'"),
        ({"model": "a", "weight": "-1", "samples": 1}, "weight is '-1'"),
        ({"model": "a", "weight": "1", "samples": 0}, "samples is 0"),
        ({"model": "a", "weight": "1", "samples": True}, "samples is True"),
        ({"model": "a", "weight": "1", "samples": 1, "price": -1}, "price is -1"),
    ],
)
def test_a_member_that_makes_no_sense_is_refused_even_with_a_fitting_digest(member: Any, message: str) -> None:
    from swaplaw.decide.policy import _digest

    document = POLICY.to_dict()
    document["members"] = [member]
    document["digest"] = _digest({key: document[key] for key in document if key not in ("digest", "serving")})
    with pytest.raises(InputError, match=message):
        policy_from(document)


@pytest.mark.parametrize(
    ("text", "message"), [("{", "not JSON"), ("[]", "schema is None"), ("[" * 100_000, "not JSON")]
)
def test_what_is_no_policy_at_all_is_refused(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "policy.json"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_policy(file)


def test_files_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the policy"):
        read_policy(tmp_path / "none.json")
    with pytest.raises(InputError, match="there is no directory"):
        POLICY.write(tmp_path / "none" / "policy.json")


def signed(document: dict[str, Any]) -> dict[str, Any]:
    from swaplaw.decide.policy import _digest

    document["digest"] = _digest({key: document[key] for key in document if key not in ("digest", "serving")})
    return document


def test_a_policy_of_version_1_is_read_as_it_was_meant() -> None:
    old = {key: value for key, value in POLICY.to_dict().items() if key not in ("silence", "fallback")}
    read = policy_from(signed({**old, "version": 1}))
    assert read == POLICY
    assert (read.silence, read.fallback) == ("counts", ())


def test_silence_and_fallback_are_part_of_what_was_decided() -> None:
    spare = (Fallback("c", 4, 0.5), Fallback("d", 1))
    policy = replace(POLICY, silence="ignored", fallback=spare)
    document = policy.to_dict()
    assert document["fallback"][1] == {"model": "d", "samples": 1, "price": None}
    assert policy_from(document) == policy
    with pytest.raises(InputError, match="changed after it was written"):
        policy_from({**document, "silence": "counts"})


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"silence": "loud"}, "expected 'counts' or 'ignored'"),
        ({"fallback": {"model": "c"}}, "fallback is .* expected a list"),
        ({"fallback": [{"model": "c", "samples": 0}]}, "fallback 1: samples is 0"),
        ({"fallback": [{"model": POLICY.members[0].model, "samples": 1}]}, "is there twice"),
    ],
)
def test_a_fallback_that_makes_no_sense_is_refused(part: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        policy_from(signed({**POLICY.to_dict(), **part}))
