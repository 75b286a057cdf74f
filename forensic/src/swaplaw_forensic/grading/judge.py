"""The rubric tier: an external judge model decides; every prompt, verdict and rationale is kept.

The answer under judgement was written by another model, so it is data and nothing else: it reaches the judge
as one JSON string, and a verdict counts only with a token that the answer's author could not know.
"""

import hashlib
import json
import os
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, TextIO

from swaplaw.answers.characters import visible
from swaplaw.errors import InputError, SwaplawError, quote

_TOLD = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
SYSTEM: str = _TOLD["system"]
PROMPT: str = _TOLD["prompt"]
Outcomes = dict[tuple[str, str, str], bool | None]
"""(challenge, question, answer) -> correct; None without a usable verdict, or with two different ones."""
VERDICTS = ("correct", "incorrect")
ATTEMPTS = 2


@dataclass(frozen=True)
class Item:
    """One distinct answer to judge."""

    challenge: str
    question: str
    text: str
    rubric: str
    answer: str
    needed: bool = True
    """Whether the answer cannot be graded without; one that is only unsure abstains where there is no judge."""

    @property
    def token(self) -> str:
        """Return the word that a verdict must repeat: it depends on the rubric, which no examinee sees."""
        secret = f"{self.rubric}\0{self.question}\0{self.answer}"
        return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def prompt(self) -> str:
        """Return the whole user message for the judge."""
        answer = json.dumps(visible(self.answer.encode("utf-8", "replace").decode()), ensure_ascii=False)
        return PROMPT.format(question=self.text, rubric=self.rubric, answer=answer, token=self.token)


@dataclass(frozen=True)
class Ruling:
    """What one judge said about one answer, once."""

    judge: str
    turn: int
    challenge: str
    question: str
    answer: str
    prompt: str
    reply: str
    verdict: str | None
    rationale: str

    @property
    def key(self) -> tuple[str, int, str]:
        """Identify the verdict by judge, turn and prompt: any change of rubric or answer asks anew."""
        return self.judge, self.turn, self.prompt


@dataclass(frozen=True)
class Judgement:
    """The verdicts of a grading, and how far two turns of the judge agree."""

    outcomes: Outcomes
    judge: str
    judged: int
    reused: int
    undecided: int
    twice: int
    agreed: int
    kappa: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {name: value for name, value in vars(self).items() if name != "outcomes"}


def parse_reply(reply: str, token: str) -> tuple[str | None, str]:
    """Return the verdict and rationale of the last JSON object that carries the token."""
    decoder = json.JSONDecoder()
    found: tuple[str | None, str] = (None, "")
    for start, letter in enumerate(reply):
        if letter != "{":
            continue
        try:
            value, _ = decoder.raw_decode(reply, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and value.get("token") == token and value.get("verdict") in VERDICTS:
            found = (value["verdict"], str(value.get("rationale", ""))[:2000])
    return found


def read_verdicts(file: Path) -> dict[tuple[str, int, str], Ruling]:
    """Read the verdicts kept so far; a last line that was cut short is not a verdict yet."""
    if not file.exists():
        return {}
    verdicts = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").split("\n")[:-1], start=1):
        try:
            verdict = Ruling(**json.loads(line))
        except (ValueError, TypeError) as error:
            raise InputError(f"{file}: line {number} is not a verdict: {quote(str(error))}") from None
        verdicts[verdict.key] = verdict
    return verdicts


def judge(
    items: Sequence[Item], model: Any, *, file: Path, twice: bool = False, progress: Callable[[], None] = lambda: None
) -> Judgement:
    """Judge every distinct answer with an Inspect model, keeping each verdict in `file` as soon as it is there.

    Verdicts already in the file are used again, so a second grading calls no model; `model` may be None then,
    if one judge made all the verdicts.
    """
    kept = read_verdicts(file)
    judges = sorted({verdict.judge for verdict in kept.values()}) if model is None else [str(model)]
    if len(judges) > 1:
        raise InputError(f"{file} holds verdicts of several judges: choose one (`model`): ({', '.join(judges)})")
    name = judges[0] if judges else ""
    turns = (1, 2) if twice else (1,)
    wanted = [(item, turn) for item in dict.fromkeys(items) for turn in turns]
    if model is None:
        wanted = [pair for pair in wanted if pair[0].needed or _key(name, pair) in kept]
    missing = [pair for pair in wanted if _key(name, pair) not in kept]
    if missing:
        if model is None:
            raise InputError(
                f"{len(missing)} answers to rubric questions have no verdict in {file}: name a judge (`model`), "
                "or leave these questions out of the grading"
            )
        for verdict in _ask_all(missing, model, name, file, progress):
            kept[verdict.key] = verdict
    asked = dict.fromkeys(item for item, _ in wanted)
    rows = [(item, [kept[key] for turn in turns if (key := _key(name, (item, turn))) in kept]) for item in asked]
    return _judgement(rows, name, len(missing), len(wanted) - len(missing))


def _key(name: str, pair: tuple[Item, int]) -> tuple[str, int, str]:
    return name, pair[1], pair[0].prompt


def _ask_all(
    pairs: Sequence[tuple[Item, int]], model: Any, name: str, file: Path, progress: Callable[[], None]
) -> list[Ruling]:
    import anyio

    verdicts: list[Ruling] = []
    failures: list[str] = []

    async def ask(item: Item, turn: int, out: Any) -> None:
        try:
            verdict = await _ask(item, turn, model, name)
        except Exception as error:  # any provider's failure; the verdicts so far are safe in the file
            failures.append(quote(str(error), 200))
            return
        verdicts.append(verdict)
        out.write(f"{json.dumps(asdict(verdict), ensure_ascii=False)}\n")
        out.flush()
        progress()

    async def main() -> None:
        with _appending(file) as out:
            async with anyio.create_task_group() as group:
                for item, turn in pairs:
                    group.start_soon(ask, item, turn, out)

    anyio.run(main)
    if failures:
        raise SwaplawError(
            f"the judge {quote(name)} failed on {len(failures)} of {len(pairs)} answers ({failures[0]}); "
            f"the other verdicts are kept in {file}: run the command again"
        )
    return verdicts


def _appending(file: Path) -> TextIO:
    """Open the file for more lines, behind the last whole one."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists():
            os.truncate(file, file.read_bytes().rfind(b"\n") + 1)
        return file.open("a", encoding="utf-8", errors="backslashreplace")  # so JSON writes lone surrogates, too
    except OSError as error:
        raise SwaplawError(f"cannot keep verdicts in {file}: {error.strerror}") from None


async def verdicts(items: Sequence[Item], model: Any) -> Outcomes:
    """Ask once about each answer, keeping nothing: an Inspect log keeps what was said."""
    rulings = [await _ask(item, 1, model, str(model)) for item in items]
    return _judgement([(item, [one]) for item, one in zip(items, rulings, strict=True)], "", 0, 0).outcomes


async def _ask(item: Item, turn: int, model: Any, name: str) -> Ruling:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    reply, verdict, rationale = "", None, ""
    for _ in range(ATTEMPTS):
        messages = [ChatMessageSystem(content=SYSTEM), ChatMessageUser(content=item.prompt)]
        reply = (await model.generate(messages)).completion
        verdict, rationale = parse_reply(reply, item.token)
        if verdict:
            break
    return Ruling(name, turn, item.challenge, item.question, item.answer, item.prompt, reply[:8000], verdict, rationale)


def _judgement(rows: list[tuple[Item, list[Ruling]]], name: str, judged: int, reused: int) -> Judgement:
    outcomes: Outcomes = {}
    pairs = []
    for item, verdicts in rows:
        said = {verdict.verdict for verdict in verdicts}
        sure = len(said) == 1 and None not in said
        outcomes[item.challenge, item.question, item.answer] = said == {"correct"} if sure else None
        if len(verdicts) == 2 and None not in said:
            pairs.append((verdicts[0].verdict == "correct", verdicts[1].verdict == "correct"))
    undecided = sum(outcome is None for outcome in outcomes.values())
    agreed = sum(first == second for first, second in pairs)
    return Judgement(outcomes, name, judged, reused, undecided, len(pairs), agreed, cohen_kappa(pairs))


def cohen_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """Return agreement beyond chance; None when there is nothing to agree on or no chance to differ."""
    if not pairs:
        return None
    n = len(pairs)
    observed = Fraction(sum(first == second for first, second in pairs), n)
    yes = (Fraction(sum(first for first, _ in pairs), n), Fraction(sum(second for _, second in pairs), n))
    chance = yes[0] * yes[1] + (1 - yes[0]) * (1 - yes[1])
    return None if chance == 1 else float((observed - chance) / (1 - chance))
