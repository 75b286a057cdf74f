"""A challenge's manifest: what the agent's side may know. Answers are in `gold`, never imported from here."""

import secrets
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, ConfigDict, StringConstraints, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from swaplaw.errors import InputError, listing, quote
from swaplaw_forensic.synthetic.case import build_case
from swaplaw_forensic.synthetic.key import opaque, secret_key

SHIPPED = Path(__file__).parent / "shipped"
Checked = TypeVar("Checked")
NO_OTHERS = ConfigDict(extra="forbid")
"""Keys that nobody knows are refused."""


def _plain(text: str) -> str:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in text or "\0" in text:
        raise ValueError("a plain relative path is needed")
    return text


Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
File = Annotated[str, AfterValidator(_plain)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{64}$")]
Sha1 = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{40}$")]
Md5 = Annotated[str, StringConstraints(pattern=r"^[0-9a-fA-F]{32}$")]
Tier = Literal["exact", "normalised", "number", "time", "set", "regex", "rubric"]


@dataclass(frozen=True, config=NO_OTHERS)
class Evidence:
    """One file that the agent sees under /evidence; None is what is not known."""

    file: File
    bytes: int | None = None
    sha256: Sha256 | None = None
    sha1: Sha1 | None = None
    md5: Md5 | None = None
    origin: str = ""
    """Where the hash comes from: published, third party, recomputed."""

    @property
    def hashes(self) -> dict[str, str]:
        """Return the known hashes by algorithm."""
        known = {"sha256": self.sha256, "sha1": self.sha1, "md5": self.md5}
        return {name: value.lower() for name, value in known.items() if value}


@dataclass(frozen=True, config=NO_OTHERS)
class Archive:
    """A published download that holds evidence files."""

    file: File
    url: str = ""
    bytes: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, config=NO_OTHERS)
class Question:
    """One question of a challenge."""

    id: Name
    text: str
    type: Literal["text", "number", "time", "list", "report"]
    tier: Tier
    level: int = 1
    """Difficulty: 1 easy, 2 several steps, 3 something hidden."""
    builds_on: str = ""
    """The question whose answer is needed first: both together mark partial progress."""
    topic: str = ""
    """What a solver calls it; not shown to an agent."""


@dataclass(frozen=True, config=NO_OTHERS)
class Challenge:
    """Everything about a challenge but its answers."""

    id: Name
    title: str
    kind: Literal["real", "synthetic"]
    licence: str
    obtain: str
    prompt: str
    evidence: tuple[Evidence, ...]
    questions: tuple[Question, ...]
    folder: Path
    pages: tuple[str, ...] = ()
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
    folder = SHIPPED / name if name in shipped() else Path(name)
    file = folder / "challenge.toml"
    if not file.is_file():
        raise InputError(
            f"no challenge {quote(ref)}: accepted are {listing(shipped())}, or a folder with a challenge.toml"
        )
    challenge = parse(read_toml(file), file)
    if challenge.kind == "synthetic":
        seed_text, _, level_text = seed_text.partition(":")
        if level_text not in ("", "1", "2", "3"):
            raise InputError(f"challenge {quote(ref)}: level {quote(level_text)} is not known; accepted are 1, 2, 3")
        drawn = seed_text == "" and ("@" not in ref or ":" in ref)
        if not drawn and not (seed_text.isascii() and seed_text.isdigit() and len(seed_text) <= 18):
            raise InputError(f"challenge {quote(ref)}: the seed after @ must be a whole number such as 7")
        # By chance: a case that nobody has seen.
        seed = secrets.randbelow(10**9) if drawn else int(seed_text)
        return _synthetic(replace(challenge, level=int(level_text or 1)), seed)
    if "@" in ref:
        raise InputError(f"challenge {quote(ref)} takes no seed: only synthetic challenges are built from one")
    return challenge


def _synthetic(challenge: Challenge, seed: int) -> Challenge:
    """Fill in what a seed decides: story, files, questions and their order."""
    case = build_case(challenge.id, seed, challenge.level)
    names = {asked.topic: f"{challenge.id.partition('-')[2]}-{n:02d}" for n, asked in enumerate(case.asked, start=1)}
    questions = tuple(
        Question(names[a.topic], a.text, a.type, a.tier, a.level, names.get(a.builds_on, ""), a.topic)  # type: ignore[arg-type]
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


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file, or say where it is broken."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not valid TOML: {error}") from None


def parse(table: Mapping[str, Any], file: Path) -> Challenge:
    """Turn a manifest's table into a challenge; every error names the file, the key and what is accepted."""
    if table.get("kind") == "synthetic":  # its builder writes story, files and questions
        table = {"prompt": "", "questions": [], "evidence": [], **table}
    challenge = checked(Challenge, {**table, "folder": file.parent}, f"{file}")
    if not challenge.questions and challenge.kind == "real":
        raise InputError(f"{file}: a challenge needs at least one [[questions]] table")
    files = [item.file for item in challenge.evidence]
    for what, values in (("question id", challenge.question_ids), ("evidence file", files)):
        twice = [value for place, value in enumerate(values) if value in values[:place]]
        if twice:
            raise InputError(f"{file}: {what} {quote(twice[0])} is given twice")
    return challenge


def checked(kind: type[Checked], table: Any, where: str) -> Checked:
    """Turn a table into what it should be, or say which of its keys is wrong and what is accepted."""
    try:
        return TypeAdapter(kind).validate_python(table)
    except ValidationError as error:
        first = error.errors()[0]
        place = " ".join(str(part + 1) if isinstance(part, int) else part for part in first["loc"])
        raise InputError(f"{where}: {place}: {first['msg']}, not {quote(first['input'])}") from None
