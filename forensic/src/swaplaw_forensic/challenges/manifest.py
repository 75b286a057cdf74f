"""A challenge's manifest: what the agent's side may know. Answers are in `gold`, never imported from here."""

import re
import secrets
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from swaplaw.errors import InputError, listing, quote
from swaplaw_forensic.synthetic.case import build_case
from swaplaw_forensic.synthetic.key import opaque, secret_key

TIERS = ("exact", "normalised", "number", "time", "set", "regex", "rubric")
TYPES = ("text", "number", "time", "list", "report")
KINDS = ("real", "synthetic")
SHIPPED = Path(__file__).parent / "shipped"
HASH_LENGTHS = {"sha256": 64, "sha1": 40, "md5": 32}
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")


@dataclass(frozen=True)
class Evidence:
    """One file that the agent sees under /evidence; None is what is not known."""

    file: str
    bytes: int | None = None
    sha256: str | None = None
    sha1: str | None = None
    md5: str | None = None
    origin: str = ""
    """Where the hash comes from: published, third party, recomputed."""

    @property
    def hashes(self) -> dict[str, str]:
        """Return the known hashes by algorithm."""
        known = {name: getattr(self, name) for name in HASH_LENGTHS}
        return {name: value.lower() for name, value in known.items() if value}


@dataclass(frozen=True)
class Archive:
    """A published download that holds evidence files."""

    file: str
    url: str = ""
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True)
class Question:
    """One question of a challenge."""

    id: str
    text: str
    type: str
    tier: str
    level: int = 1
    """Difficulty: 1 easy, 2 several steps, 3 something hidden."""
    builds_on: str = ""
    """The question whose answer is needed first: both together mark partial progress."""
    topic: str = ""
    """What a solver calls it; not shown to an agent."""


@dataclass(frozen=True)
class Challenge:
    """Everything about a challenge but its answers."""

    id: str
    title: str
    kind: str
    licence: str
    obtain: str
    prompt: str
    pages: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    questions: tuple[Question, ...]
    folder: Path
    archives: tuple[Archive, ...] = ()
    unknown: tuple[str, ...] = ()
    seed: int | None = None
    level: int = 1
    tools: tuple[str, ...] = ()
    """Programs that its questions need."""

    @property
    def ref(self) -> str:
        """Return the name that finds this challenge again: `id`, or `id@seed`."""
        return self.id if self.seed is None else f"{self.id}@{self.case}"

    @property
    def case(self) -> str:
        """Return what tells one synthetic case of a kind from another: its seed, and its level above 1."""
        return f"{self.seed}" if self.level == 1 else f"{self.seed}:{self.level}"

    @property
    def place(self) -> str:
        """Return the name of its evidence folder: an agent can read it, so a synthetic one tells nothing."""
        return self.id if self.seed is None else opaque(secret_key(), self.id, self.case)

    def vote_id(self, question: str) -> str:
        """Return the question's id in the vote table: another seed is another question."""
        return question if self.seed is None else f"{question}@{self.case}"

    @property
    def question_ids(self) -> tuple[str, ...]:
        """Return the ids in order."""
        return tuple(question.id for question in self.questions)


def shipped() -> list[str]:
    """Return the ids of the challenges in this package."""
    return sorted(path.parent.name for path in SHIPPED.glob("*/challenge.toml"))


def load(ref: str) -> Challenge:
    """Load a challenge by `id`, `id@seed`, or the path of a folder that holds a challenge.toml.

    A synthetic challenge without seed is a new case each time; its `ref` names the seed.
    """
    name, _, seed_text = ref.partition("@")
    folder = SHIPPED / name if _NAME.fullmatch(name) and (SHIPPED / name).is_dir() else Path(name)
    file = folder / "challenge.toml"
    if not file.is_file():
        raise InputError(
            f"no challenge {quote(ref)}: accepted are {listing(shipped())}, or a folder with a challenge.toml"
        )
    challenge = parse(read_toml(file), file)
    if challenge.kind == "synthetic":
        seed_text, _, level_text = seed_text.partition(":")
        _one_of(level_text or "1", ("1", "2", "3"), f"challenge {quote(ref)}: level")
        return _synthetic(replace(challenge, level=int(level_text or 1)), _seed(ref, seed_text))
    if "@" in ref:
        raise InputError(f"challenge {quote(ref)} takes no seed: only synthetic challenges are built from one")
    return challenge


def _synthetic(challenge: Challenge, seed: int) -> Challenge:
    """Fill in what a seed decides: story, files, questions and their order."""
    case = build_case(challenge.id, seed, challenge.level)
    names = {asked.topic: f"{challenge.id.partition('-')[2]}-{n:02d}" for n, asked in enumerate(case.asked, start=1)}
    questions = tuple(
        Question(names[a.topic], a.text, a.type, a.tier, a.level, names.get(a.builds_on, ""), a.topic)
        for a in case.asked
    )
    evidence = tuple(Evidence(name) for name in case.names)
    return replace(challenge, seed=seed, prompt=case.prompt, evidence=evidence, questions=questions)


def at_level(ref: str, level: int) -> str:
    """Name the level of a synthetic challenge that names none itself: `id@seed:level`, where level 1 is not named.

    >>> at_level("synthetic-disk@7", 3), at_level("synthetic-disk@7:2", 3), at_level("rhino-hunt", 3)
    ('synthetic-disk@7:3', 'synthetic-disk@7:2', 'rhino-hunt')
    """
    if level == 1 or ":" in ref or not ref.startswith("synthetic-"):
        return ref
    return f"{ref}{'' if '@' in ref else '@'}:{level}"


def _seed(ref: str, text: str) -> int:
    if text == "" and ("@" not in ref or ":" in ref):
        return secrets.randbelow(10**9)  # a case that nobody has seen
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InputError(f"challenge {quote(ref)}: the seed after @ must be a whole number such as 7")
    return int(text)


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file, or say where it is broken."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not valid TOML: {error}") from None


def parse(table: Mapping[str, Any], file: Path) -> Challenge:
    """Turn a manifest's table into a challenge; every error names the file, the key and what is accepted."""
    required = {"id": str, "title": str, "kind": str, "licence": str, "obtain": str, "prompt": str}
    if table.get("kind") == "synthetic":  # its builder writes story, files and questions
        table = {"prompt": "", "questions": [], "evidence": [], **table}
    lists = {"pages": list, "evidence": list, "questions": list, "archives": list, "unknown": list, "tools": list}
    check_keys(table, required | lists, required | {"questions": list, "evidence": list}, f"{file}")
    if not _NAME.fullmatch(table["id"]):
        raise InputError(f"{file}: id {quote(table['id'])} must be small letters, digits, '.', '_' and '-'")
    _one_of(table["kind"], KINDS, f"{file}: kind")
    questions = tuple(_question(row, f"{file}: question {n}") for n, row in enumerate(table["questions"], 1))
    if not questions and table["kind"] != "synthetic":
        raise InputError(f"{file}: a challenge needs at least one [[questions]] table")
    _unique((question.id for question in questions), f"{file}: question id")
    evidence = tuple(_evidence(row, f"{file}: evidence {n}") for n, row in enumerate(table["evidence"], 1))
    _unique((item.file for item in evidence), f"{file}: evidence file")
    archives = tuple(_archive(row, f"{file}: archive {n}") for n, row in enumerate(table.get("archives", []), 1))
    return Challenge(
        **{key: table[key] for key in required},
        pages=tuple(table.get("pages", [])),
        evidence=evidence,
        questions=questions,
        folder=file.parent,
        archives=archives,
        unknown=tuple(table.get("unknown", [])),
        tools=tuple(table.get("tools", [])),
    )


def _question(row: Any, where: str) -> Question:
    fields = {"id": str, "text": str, "type": str, "tier": str}
    check_keys(row, fields | {"level": int, "builds_on": str}, fields, where)
    _one_of(row["type"], TYPES, f"{where} ({row['id']}): type")
    _one_of(row["tier"], TIERS, f"{where} ({row['id']}): tier")
    if not _NAME.fullmatch(row["id"]):
        raise InputError(f"{where}: id {quote(row['id'])} must be small letters, digits, '.', '_' and '-'")
    return Question(**row)


def _evidence(row: Any, where: str) -> Evidence:
    fields = {"file": str, "bytes": int, "sha256": str, "sha1": str, "md5": str, "origin": str}
    check_keys(row, fields, {"file": str}, where)
    _plain_path(row["file"], where)
    for name, length in HASH_LENGTHS.items():
        if name in row and not re.fullmatch(rf"[0-9a-fA-F]{{{length}}}", row[name]):
            raise InputError(f"{where}: {name} {quote(row[name])} must be {length} hexadecimal digits")
    return Evidence(**row)


def _archive(row: Any, where: str) -> Archive:
    check_keys(row, {"file": str, "url": str, "bytes": int, "sha256": str}, {"file": str}, where)
    _plain_path(row["file"], where)
    return Archive(**row)


def _plain_path(text: str, where: str) -> None:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in text or "\0" in text:
        raise InputError(f"{where}: file {quote(text)} must be a plain relative path")


def check_keys(row: Any, accepted: Mapping[str, Any], required: Mapping[str, Any], where: str) -> None:
    """Refuse unknown, missing and mistyped keys."""
    if not isinstance(row, Mapping):
        raise InputError(f"{where}: must be a table, not {quote(row)}")
    for key, value in row.items():
        if key not in accepted:
            raise InputError(f"{where}: unknown key {quote(key)}; accepted are {listing(sorted(accepted), 20)}")
        if not isinstance(value, accepted[key]):
            kinds = accepted[key] if isinstance(accepted[key], tuple) else (accepted[key],)
            names = " or ".join(kind.__name__ for kind in kinds)
            raise InputError(f"{where}: {key} must be of type {names}, not {quote(value)}")
    missing = [key for key in required if key not in row]
    if missing:
        raise InputError(f"{where}: lacks {listing(missing)}")


def _one_of(value: str, accepted: tuple[str, ...], where: str) -> None:
    if value not in accepted:
        raise InputError(f"{where} {quote(value)} is not known; accepted are {listing(accepted)}")


def _unique(values: Iterable[str], where: str) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise InputError(f"{where} {quote(value)} is given twice")
        seen.add(value)
