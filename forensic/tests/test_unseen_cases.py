"""Nothing in the sandbox tells an agent the seed or an answer, and no script learnt on yesterday's cases helps."""

from pathlib import Path

import pytest
from inspect_ai import eval as evaluate

from swaplaw.errors import InputError
from swaplaw_forensic.agent.traces import Trace
from swaplaw_forensic.challenges.gold import load_gold
from swaplaw_forensic.challenges.manifest import SHIPPED, load, shipped
from swaplaw_forensic.challenges.seeds import remembered
from swaplaw_forensic.grading.votes import Key
from swaplaw_forensic.sandbox import protections
from swaplaw_forensic.sandbox.config import SandboxConfig, SandboxInputError
from swaplaw_forensic.sandbox.evidence import verify
from swaplaw_forensic.synthetic.case import build_case
from swaplaw_forensic.synthetic.key import VARIABLE, fingerprint, secret_key
from swaplaw_forensic.task import forensic

from testbed.examiners import FINISH, Move, needs_tools, playing

pytestmark = pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning")

SEED = 918273645
PROBES = {
    "mount table": "cat /proc/self/mountinfo /proc/mounts",
    "environment": "env; cat /proc/*/environ | tr '\\0' '\\n'",
    "command lines": "cat /proc/*/cmdline | tr '\\0' ' '",
    "open files": "ls -l /proc/*/fd /proc/*/cwd /proc/*/root",
    "names": "ls -lRa /evidence /home /tmp /dev/shm /etc",
    "attributes": "stat /evidence/*; getfattr -d -m - /evidence/* 2>&1",
    "gold, solutions, packages, logs and keys by name": (
        "find / -path /proc -prune -o \\( -name 'gold*.toml' -o -name 'solution.sh' -o -name 'challenge.toml' -o -name "
        "'swaplaw*' -o -name '*.eval' -o -name 'forensic.key' \\) -print"
    ),
    "the package": "python3 -c 'import swaplaw'; pip list; ls /usr/lib/python3*/site-packages",
    "the key": "cat ~/.config/swaplaw/forensic.key /root/.config/swaplaw/forensic.key",
    "the canary": "grep -rl swaplaw-forensic-6f1d2b7e /etc /home /tmp /opt /srv /root /usr/lib/python3",
    "kernel and host": "cat /proc/cmdline /proc/1/cgroup /proc/self/status /proc/keys; hostname; id",
    "logs and homes": "ls -la / /root /var /var/log /run /srv /opt /mnt /media",
}


@needs_tools()
@pytest.mark.parametrize("name", ["synthetic-disk", "synthetic-host"])
def test_no_probe_learns_the_seed_or_an_answer(name: str, tmp_path: Path) -> None:
    assert len(PROBES) >= 10
    moves: list[Move] = [[("bash", {"command": f"{{ {probe}; }} 2>&1 | head -c 60000"})] for probe in PROBES.values()]
    (log,) = evaluate(
        forensic([f"{name}@{SEED}"], evidence=str(tmp_path / "evidence")),
        model=playing([*moves, FINISH]),
        log_dir=str(tmp_path / "logs"),
        display="none",
    )
    assert log.status == "success", log.error
    assert log.samples is not None
    seen = "\n".join(message.text for message in log.samples[0].messages)
    assert "mountinfo" not in seen or "/evidence" in seen
    assert "/evidence" in seen  # the probes did look
    assert str(SEED) not in seen
    assert name not in seen
    assert "swaplaw-forensic-6f1d2b7e" not in seen
    assert "the key of the tests" not in seen
    for key in load_gold(load(f"{name}@{SEED}")).values():
        if len(key.category) > 6:
            assert key.category not in seen, key.question
    # The log knows what the agent does not.
    assert log.samples[0].metadata["seed"] == SEED
    assert log.samples[0].metadata["key"] == fingerprint(secret_key())


def test_other_copies_and_challenges_in_the_system_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lib" / "python3" / "swaplaw_forensic" / "sandbox").mkdir(parents=True)
    (tmp_path / "share" / "mine").mkdir(parents=True)
    (tmp_path / "share" / "mine" / "challenge.toml").touch()
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "swaplaw_forensic-1.0.tar.gz").touch()
    (tmp_path / "src" / "votes.parquet.verdicts.jsonl").touch()
    found = {str(path.relative_to(tmp_path)) for path in protections.gold_below(tmp_path)}
    assert found == {
        "lib/python3/swaplaw_forensic", "share/mine", "src/swaplaw_forensic-1.0.tar.gz",
        "src/votes.parquet.verdicts.jsonl",
    }  # fmt: skip
    assert protections.PACKAGE.name == "swaplaw_forensic"
    monkeypatch.setattr(protections, "SHOWN", (str(tmp_path),))
    protections._gold_in_system.cache_clear()
    try:
        assert {str(path.relative_to(tmp_path)) for path in protections.hidden_paths()} == found
    finally:
        protections._gold_in_system.cache_clear()


def test_an_evidence_folder_with_gold_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gold.toml").touch()
    with pytest.raises(SandboxInputError, match="holds gold answers"):
        verify(SandboxConfig(evidence=str(tmp_path)))


def test_every_gold_carries_the_canary() -> None:
    files = list(SHIPPED.glob("*/gold.toml"))
    assert len(files) == 5
    assert all("canary swaplaw-forensic-6f1d2b7e" in file.read_text().splitlines()[0] for file in files)


def test_default_runs_differ_but_one_log_folder_keeps_its_cases(tmp_path: Path) -> None:
    names = [name for name in shipped() if name.startswith("synthetic")]
    first, second = (remembered([*names, "rhino-hunt"], tmp_path / folder) for folder in ("a", "b"))
    assert first[-1] == second[-1] == "rhino-hunt"
    for one, other in zip(first[:-1], second[:-1], strict=True):
        cases = [build_case(ref.partition("@")[0], int(ref.partition("@")[2])) for ref in (one, other)]
        assert cases[0].files.keys() != cases[1].files.keys()
        assert list(cases[0].files.values()) != list(cases[1].files.values())
        assert [str(asked.gold) for asked in cases[0].asked] != [str(asked.gold) for asked in cases[1].asked]
    assert remembered([*names, "rhino-hunt"], tmp_path / "a") == first


def test_another_key_cannot_grade(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = Trace("m", "synthetic-host@3", None, ("host-01",), {}, "finish", 0, 0, fingerprint(secret_key()))
    assert Key([trace]).golds(trace)
    monkeypatch.setenv(VARIABLE, "another")
    with pytest.raises(InputError, match="another secret key"):
        Key([trace])
