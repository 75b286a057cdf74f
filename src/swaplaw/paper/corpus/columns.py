"""What a file holds, told by its columns: which of them mean what, and so which role the file plays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.corpus.files import File
from swaplaw.paper.corpus.words import NULLS, model_name, plain

if TYPE_CHECKING:
    import polars as pl

Role = Literal["records", "counts", "grades", "gold", "reasons", "forms", "other"]
ROLES: tuple[Role, ...] = ("records", "counts", "grades", "gold", "reasons", "forms")

GUESSES: Mapping[str, tuple[str, ...]] = {
    "question": (
        *("question_id", "qid", "question_uuid", "uuid", "item_id", "problem_id", "task_id", "question", "item", "id"),
    ),
    "model": ("model", "model_name", "model_id", "llm", "system", "engine"),
    "answer": (
        *("canonical_answer", "canonical", "canonical_category", "answer_category", "vote_category", "canonical_vote"),
        *("normalised_answer", "normalized_answer", "normalised", "normalized"),
        *("parsed_answer", "extracted_answer", "final_answer", "vote"),
        *("submitted_answer", "model_answer", "prediction", "predicted", "predicted_letter", "pred", "choice"),
        *("answer", "option", "category", "letter", "answer_letter"),
        *("canonical_answers", "parsed_answers", "answers", "predictions", "choices"),
    ),
    "gold": (
        *("gold", "gold_answer", "gold_label", "gold_letter", "correct_answer", "correct_option", "answer_key"),
        *("target", "reference_answer", "ground_truth", "key", "answer_letter", "solution", "label"),
    ),
    "correct": ("correct", "is_correct", "graded_correct", "grade", "score", "verdict", "grades"),
    "reason": (
        *("reason", "abstention_reason", "abstain_reason", "null_reason", "error_reason", "abstention", "error"),
        *("parse_status", "status", "outcome", "reasons"),
    ),
    "finish": ("finish_reason", "stop_reason", "finish", "finish_reasons"),
    "abstained": ("abstained", "is_abstention", "is_null", "abstain"),
    "parsed": ("parsed", "parse_ok", "is_parsed"),
    "sample": (
        *("sample", "sample_index", "sample_idx", "sample_id", "sample_number", "repeat", "replicate", "rep", "trial"),
        *("attempt", "run", "epoch", "iteration", "rollout", "draw"),
    ),
    "cluster": ("cluster", "challenge", "challenge_id", "discipline", "subject", "domain"),
    "dataset": ("dataset", "benchmark", "dataset_name", "corpus", "subset", "config"),
    "votes": ("votes", "count", "vote_count", "n_votes", "num_votes", "n", "vote_counts", "counts", "answer_counts"),
}
"""For each column of ours, the names it may go by, likeliest first; canonical answers before parsed before plain ones.

`votes` counts equal votes; `finish` says why a generation ended; `abstained` and `parsed` are true or false.
"""

CANONICAL = {name.replace("_", "") for name in GUESSES["answer"][:10]}
"""Answer columns that say they are canonical."""
OF_A_VOTE = ("answer", "gold", "correct", "reason", "finish", "sample", "abstained", "parsed")
"""What the record of one vote may hold."""
_PREFIXES = ("count", "votes", "vote", "n", "num")
_FIELDS = ("correct", "reason", "finish", "abstained", "parsed", "answer")
"""What the columns of one model or one sample may hold, where a row has several."""
_SAMPLES = ("sample", "vote", "run", "trial", "attempt", "epoch", "repeat", "response", "output", "s", "v", "a")
_LISTS = ("samples", "responses", "generations", "completions", "outputs", "runs", "trials", "records")
"""Columns that may hold a list of votes, each a record of its own."""
Spread = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Layout:
    """One file, its role and its columns."""

    file: File
    role: Role
    columns: Mapping[str, str]
    """Our names and the file's."""
    passed_over: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Columns of the file that might have meant the same."""
    wide: Mapping[str, str | None] = field(default_factory=dict)
    """Columns that count one answer each, and which; None is the null category."""
    model: str | None = None
    """The model that the path names, where no column does."""
    along: str = ""
    """`model` or `sample`, where every row holds the votes of several, in columns of their own."""
    spread: Spread = field(default_factory=dict)
    """For each of these models or samples, our names and the file's."""
    types: Mapping[str, Any] = field(default_factory=dict)

    def read(self) -> pl.DataFrame:
        """The file's columns under our names (wide ones under theirs)."""
        import polars as pl

        others = [*self.wide, *(name for part in self.spread.values() for name in part.values())]
        frame = self.file.read(list(dict.fromkeys([*self.columns.values(), *others])), self._fields())
        frame = frame.select(
            *(pl.col(theirs).alias(ours) for ours, theirs in self.columns.items()), *map(pl.col, others)
        )
        return frame.with_columns(pl.lit(self.model).alias("model")) if self.model else frame

    def _fields(self) -> set[str]:
        """What to read of the records, where the answers of a row are a list of them."""
        import polars as pl

        kind = self.types.get(self.columns.get("answer", ""))
        if not isinstance(kind, pl.List) or not isinstance(kind.inner, pl.Struct):
            return set()
        names = [field.name for field in kind.inner.fields]
        return {name for ours in (*OF_A_VOTE, "votes") for name in likely(names, ours)}

    def describe(self) -> str:
        """Which column was taken for what."""
        named = ", ".join(f"{ours} from {quote(theirs)}" for ours, theirs in self.columns.items() if ours != theirs)
        also = "; ".join(
            f"{ours} could also be {listing(others)}: not used" for ours, others in self.passed_over.items()
        )
        parts = [named, "model from the path" if self.model else "", also]
        if self.wide:
            parts.append(f"one column per answer: {listing(list(self.wide), 12)}")
        if self.spread:
            parts.append(f"one column per {self.along}: {listing(list(self.spread), 12)}")
        return "; ".join(part for part in parts if part)


def layout_of(file: File, declared: Mapping[str, Mapping[str, str]]) -> Layout:
    """Tell what a file holds; `declared` maps columns for every role or, under `all`, for all files."""
    types = file.schema()
    names = list(types)
    model = None if "model" in _mapped(types, declared.get("all", {}), ("model",)) else model_name(file.name)
    for role in ROLES:
        # A map that is declared for a role makes a file of that role where its columns are there.
        own = declared.get(role, {})
        if own and set(own.values()) <= set(names):
            mapping = _mapped(types, {**declared.get("all", {}), **own}, tuple(GUESSES))
            return _layout(file, role, mapping, names, types, model)
    mapping = _mapped(types, declared.get("all", {}), tuple(GUESSES))
    if model:
        mapping.pop("model", None)
    return _layout(file, None, mapping, names, types, model)


def _layout(
    file: File,
    role: Role | None,
    mapping: dict[str, str],
    names: list[str],
    types: Mapping[str, Any],
    model: str | None,
) -> Layout:
    import polars as pl

    if not {"answer", "votes"} & set(mapping):
        listed = [name for name in names if plain(name) in _LISTS and isinstance(types[name], pl.List)]
        if listed and isinstance(types[listed[0]].inner, pl.Struct):
            mapping = {ours: theirs for ours, theirs in mapping.items() if theirs != listed[0]} | {"answer": listed[0]}
    along, spread = _spread(names, mapping, model)
    if along == "model" and "gold" not in mapping and "answer" in mapping:
        mapping["gold"] = mapping.pop("answer")
    wide = {} if along else _wide(names, types, mapping)
    if wide:
        # A column that sums up the others is no answer.
        mapping = {ours: theirs for ours, theirs in mapping.items() if theirs not in wide and ours != "votes"}
    has = set(mapping) | ({"model"} if model else set()) | ({along, "answer"} if along else set())
    forms = _forms(names, has)
    told: Role = role or ("forms" if forms else _role(has, bool(wide)))
    if told == "forms":
        mapping |= forms
    if told == "gold" and "gold" not in mapping and "answer" in mapping:
        mapping["gold"] = mapping.pop("answer")
    if told == "records" and "votes" in mapping and "answer" not in mapping:
        mapping["answer"] = mapping.pop("votes")
    wanted = {
        "records": ("question", "model", "answer", "gold", "correct", "reason", "finish", "abstained", "parsed"),
        "counts": ("question", "model", "answer", "votes", "gold", "correct", "reason"),
        "grades": ("question", "model", "answer", "correct"),
        "gold": ("question", "gold"),
        "reasons": ("question", "model", "reason", "finish", "abstained", "parsed"),
        "forms": ("question", "answer", "canonical"),
        "other": (),
    }[told]
    kept = {ours: mapping[ours] for ours in (*wanted, "sample", "cluster", "dataset") if ours in mapping and wanted}
    if along:
        kept = {ours: theirs for ours, theirs in kept.items() if ours not in (along, "answer")}
    used = set(kept.values())
    others: dict[str, tuple[str, ...]] = {
        ours: tuple(name for name in likely(names, ours) if name not in used)
        for ours in ("answer", "gold", "correct")
        if ours in kept
    }
    others = {ours: left for ours, left in others.items() if left}
    return Layout(
        file,
        told,
        kept,
        others,
        wide if told == "counts" else {},
        model if wanted else None,
        along,
        spread,
        dict(types),
    )


def _role(has: set[str], wide: bool) -> Role:
    """Tell the role by what there is."""
    if "question" not in has:
        return "other"
    if "model" in has:
        if wide or ("votes" in has and ("answer" in has or "sample" not in has)):
            return "counts"
        if "answer" in has:
            return "records"
        if "correct" in has:
            return "grades"
        return "reasons" if {"reason", "finish", "abstained", "parsed"} & has else "other"
    if {"answer", "correct"} <= has:
        return "grades"
    return "gold" if {"gold", "answer"} & has else "other"


def _forms(names: list[str], has: set[str]) -> dict[str, str]:
    """The columns of a table that says which canonical answer each answer is."""
    given = likely(names, "answer")
    if len(given) < 2 or "question" not in has or has & {"model", "correct", "gold"}:
        return {}
    canonical, plainer = given[0], [name for name in given if plain(name) not in CANONICAL]
    return {"canonical": canonical, "answer": plainer[0]} if plain(canonical) in CANONICAL and plainer else {}


def _spread(names: list[str], mapping: Mapping[str, str], model: str | None) -> tuple[str, Spread]:
    """Columns that hold the votes of one model, or one sample, each."""
    if "question" not in mapping:
        return "", {}
    if "model" not in mapping and model is None:
        found = _parts(names, _of_model)
        if found:
            return "model", found
    if not {"answer", "sample"} & set(mapping):
        found = _parts(names, _of_sample)
        if found:
            return "sample", found
    return "", {}


def _parts(names: list[str], told: Callable[[str], tuple[str, str] | None]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for name in names:
        part = told(name)
        if part:
            found.setdefault(part[0], {}).setdefault(part[1], name)
    return found if len(found) > 1 and all("answer" in part for part in found.values()) else {}


def _of_model(name: str) -> tuple[str, str] | None:
    """The model that a column is named after, and what it holds: `gemma-4-31b`, `gemma-4-31b_correct`."""
    model = model_name(name)
    head, _, tail = name.rpartition("_")
    if model is None or not model_name(head):
        return None if model is None else (model, "answer")
    what = next((ours for ours in _FIELDS if plain(tail) in map(plain, GUESSES[ours])), None)
    return None if what is None else (model, what)


def _of_sample(name: str) -> tuple[str, str] | None:
    """The sample that a column is named after, and what it holds: `vote_3`, `answer_3`, `finish_reason_3`."""
    match = re.fullmatch(r"(.*?)[_\-. ]?(\d{1,4})", name)
    if match is None:
        return None
    what = plain(match[1])
    ours = next((ours for ours in _FIELDS if what in map(plain, GUESSES[ours])), "answer" if what in _SAMPLES else None)
    return None if ours is None else (str(int(match[2])), ours)


def _mapped(types: Mapping[str, Any], declared: Mapping[str, str], wanted: tuple[str, ...]) -> dict[str, str]:
    """Declared columns first, then the likeliest name of each."""
    import polars as pl

    mapping = {ours: theirs for ours, theirs in declared.items() if theirs in types}
    # Whether an answer is normalised is no answer.
    flags = {name for name, kind in types.items() if kind == pl.Boolean}
    for ours in wanted:
        taken = set(mapping.values()) | (flags if ours in ("answer", "gold") else set())
        match = next((theirs for theirs in likely(list(types), ours) if theirs not in taken), None)
        if ours not in mapping and match is not None:
            mapping[ours] = match
    return mapping


def likely(names: list[str], ours: str, declared: Mapping[str, str] | None = None) -> list[str]:
    """Columns that may be what we call `ours`, the likeliest first."""
    if declared and declared.get(ours) in names:
        return [declared[ours]]
    by_plain = {plain(name): name for name in reversed(names)}
    return [by_plain[plain(guess)] for guess in GUESSES[ours] if plain(guess) in by_plain]


def _wide(names: list[str], types: Mapping[str, Any], mapping: Mapping[str, str]) -> dict[str, str | None]:
    """Columns that count one answer each: A, B, … or count_A, n_B, with or without one for null."""
    import polars as pl

    found: dict[str, str | None] = {}
    for name in names:
        kind = types[name]
        if not (kind == pl.String or kind == pl.Null or getattr(kind, "is_integer", lambda: False)()):
            continue
        first, _, rest = name.partition("_")
        bare = rest if rest and first.lower() in _PREFIXES else name
        if len(bare) == 1 and bare.isalpha() and bare.isupper():
            found[name] = bare
        elif plain(bare) in (*NULLS, "none") and plain(bare):
            found[name] = None
    letters = [letter for letter in found.values() if letter]
    return found if len(letters) >= 2 and "answer" not in mapping else {}


def read_map(document: Any) -> dict[str, dict[str, str]]:
    """Check a column map: our names to the files', for all files, or one such map per role."""
    if not isinstance(document, dict):
        raise InputError("the column map is not a JSON object")
    found: dict[str, dict[str, str]] = {"all": {}}
    for name, value in document.items():
        inner = value if isinstance(value, dict) and name in ROLES else {name: value}
        for ours, theirs in inner.items():
            if ours not in GUESSES:
                known = f"columns are {listing(list(GUESSES), 14)}; roles are {listing(list(ROLES))}"
                raise InputError(f"the column map names {quote(ours)}; {known}")
            if not isinstance(theirs, str):
                raise InputError(f"the column map gives {quote(json.dumps(theirs))} for {quote(ours)}: give a name")
            found.setdefault(name if inner is value else "all", {})[ours] = theirs
    return found
