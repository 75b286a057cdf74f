"""One dataset from its files: one source of votes, completed and confirmed by the others, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from swaplaw.errors import InputError, listing, quote
from swaplaw.paper.corpus.reasons import with_reasons
from swaplaw.paper.corpus.source import CELL, Source, categories, cells, is_canonical, span
from swaplaw.paper.corpus.tables import Table, reason_names
from swaplaw.paper.corpus.words import CHOICE_NULLS, NULLS, OPTIONS, is_choice, plain
from swaplaw.paper.published import published

if TYPE_CHECKING:
    import polars as pl

SHOWN = ("order", "permutation", "perm", "shuffle")
"""How the names of columns begin or end that say in which order options were shown."""
AS_SHOWN = ("displayed", "shown", "presented", "raw")
"""How the names of columns begin that hold letters as shown; then the other answers are not."""
UNGRADED_GOLD = "(gold)"
STRAY = 0.005
"""Share of answers to multiple-choice questions that may be no option's letter."""


class Assembly:
    """Puts one dataset together and notes what came from where."""

    def __init__(self, dataset: str, tables: Sequence[Table], samples: int | None, declared: bool) -> None:
        self.dataset, self.samples, self.declared = dataset, samples, declared
        self.said: list[str] = []
        self.tables = tables

    def frame(self) -> pl.DataFrame:
        """The votes (or counts, one row per vote), ready for the contract."""
        import polars as pl

        self._tell_questions_apart()
        self._tell_reasons_from_votes()
        records, counts = self._source("records"), self._source("counts")
        if records is not None and counts is not None:
            self._cross_check(records, counts)
        frame = records if records is not None else counts
        if frame is None:
            raise InputError("there are no votes, only other tables")
        frame = self._with_unrecorded(frame)
        self._complete(frame)
        if tables := self._of("reasons"):
            frame = _silenced(with_reasons(frame, tables))
            self.said.append(f"reasons from {listing([table.name for table in tables], 4)}")
        frame = self._graded(frame)
        frame = self._with_gold(frame)
        self._plausible(frame)
        frame = self._reasons(frame)
        if "votes" in frame.columns:
            frame = frame.with_columns(pl.int_ranges(0, pl.col("votes")).alias("votes")).explode("votes").drop("votes")
            frame = frame.drop("sample", strict=False)
        wanted = ("question", "model", "sample", "answer", "gold", "correct", "reason", "cluster")
        return frame.select(pl.lit(self.dataset).alias("dataset"), *(name for name in wanted if name in frame.columns))

    def _of(self, role: str) -> list[Table]:
        """Tables of a role: the dataset's own, or else those for all datasets."""
        own = [table for table in self.tables if table.layout.role == role and table.dataset == self.dataset]
        return own or [table for table in self.tables if table.layout.role == role and table.dataset is None]

    # --- one source of votes ---

    def _source(self, role: str) -> pl.DataFrame | None:
        source = Source([(table, self._answers(table)) for table in self._of(role)], self.samples)
        found = source.frame()
        self.said += source.said
        return found

    def _answers(self, table: Table) -> pl.DataFrame:
        """Answers in one spelling, abstentions as null."""
        import polars as pl

        frame, choice = table.frame, is_choice(self.dataset)
        column = table.layout.columns.get("answer", "")
        canonical = is_canonical(table) or "votes" in frame.columns
        tidy = [name for name in ("answer", "gold") if name in frame.columns]
        if choice:
            frame = frame.with_columns(_letter(pl.col(name)).alias(name) for name in tidy)
        elif not canonical:
            frame = frame.with_columns(_spelt(pl.col(name), self.dataset).alias(name) for name in tidy)
            self.said.append(f"free-text answers of {table.name} grouped without regard to case and spacing")
        nulls = (*NULLS, *CHOICE_NULLS) if choice else NULLS
        bare = pl.col("answer").str.to_lowercase().str.replace_all(r"[^a-z0-9]", "")
        # Answers in another script have no plain form at all, and are answers.
        silent = bare.is_in(nulls) & ((bare != "") | (pl.col("answer").str.strip_chars(" -_.?()[]<>") == ""))
        unsure = 0 if choice else frame.select(bare.is_in(CHOICE_NULLS).sum()).item()
        if unsure:
            self.said.append(f"{unsure:,} answers of {table.name} may mean none (such as N/A): counted as answers")
        if choice:
            # Options that are numbered have no place before the first.
            silent = silent | pl.col("answer").is_in(["-1", "-1.0"])
        frame = _silenced(frame.with_columns(pl.when(~silent).then("answer").alias("answer")))
        if not canonical and (forms := self._of("forms")):
            frame = self._in_canonical_form(frame, forms)
        if choice and column and not self.declared and not canonical:
            names = [(name, plain(name)) for name in table.layout.types]
            shown = [name for name, bare in names if bare.startswith(SHOWN) or bare.endswith(SHOWN)]
            apart = [name for name, bare in names if bare.startswith(AS_SHOWN) and bare.endswith(("answer", "letter"))]
            if shown and not apart and "correct" not in frame.columns and not self._of("grades"):
                raise InputError(
                    f"{quote(table.name, 200)}: {quote(column)} may hold letters as they were shown ({quote(shown[0])} "
                    "says in which order), and there are no grades to tell; map the column of canonical answers "
                    "to 'answer'"
                )
        return frame

    def _in_canonical_form(self, frame: pl.DataFrame, tables: Sequence[Table]) -> pl.DataFrame:
        """Replace answers by the canonical ones that a table of its own gives for them."""
        import polars as pl

        names = listing([table.name for table in tables], 4)
        forms = pl.concat([table.frame.select("question", "answer", "canonical") for table in tables])
        forms = forms.with_columns(_spelt(pl.col("answer"), self.dataset)).unique()
        if forms.select("question", "answer").is_duplicated().any():
            raise InputError(f"{names}: two canonical answers for the same question and answer")
        joined = frame.join(forms, on=["question", "answer"], how="left")
        lost = joined.filter(pl.col("answer").is_not_null() & pl.col("canonical").is_null()).height
        if lost:
            raise InputError(f"{lost:,} of {len(frame):,} answers have no canonical form in {names}")
        self.said.append(f"canonical answers from {names}")
        return joined.with_columns(pl.col("canonical").alias("answer")).drop("canonical")

    def _tell_questions_apart(self) -> None:
        """Name questions after their challenge as well, where every challenge numbers its questions anew."""
        import polars as pl

        votes = [table.frame for role in ("records", "counts") for table in self._of(role)]
        nested = [frame for frame in votes if "cluster" in frame.columns and "model" in frame.columns]
        if self.samples is None or not nested or all(len(cells(frame)) == 0 for frame in nested):
            return
        full = pl.concat([cells(frame) for frame in nested]).group_by(CELL).agg(pl.col("votes").sum())
        homes = pl.concat([frame.select("question", "cluster") for frame in nested]).unique()
        if full["votes"].max() <= self.samples or not homes["question"].is_duplicated().any():  # type: ignore[operator]
            return
        whole = pl.concat_str("cluster", pl.lit(" / "), "question").alias("question")
        self.tables = [
            replace(table, frame=table.frame.with_columns(whole))
            if table.dataset in (self.dataset, None) and {"question", "cluster"} <= set(table.frame.columns)
            else table
            for table in self.tables
        ]
        self.said.append("question numbers start anew in every cluster: named after both")

    def _tell_reasons_from_votes(self) -> None:
        """A table of abstentions with an empty column of answers says why there is none: it holds no further votes."""
        import polars as pl

        key = [*CELL, "sample"]
        tables = [table for table in self._of("records") if set(key) <= set(table.frame.columns)]
        silent = [table for table in tables if table.frame["answer"].is_null().all()]
        spoken = [table.frame.select(key) for table in tables if table not in silent]
        for table in silent if spoken else []:
            if table.frame.join(pl.concat(spoken), on=key, how="anti").is_empty():
                changed = replace(table, layout=replace(table.layout, role="reasons"), frame=table.frame.drop("answer"))
                self.tables = [changed if each is table else each for each in self.tables]

    def _with_unrecorded(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Add the abstentions that only a table of reasons lists, where they are just the votes that are missing."""
        import polars as pl

        key = [*CELL, "sample"]
        tables = [table for table in self._of("reasons") if set(key) <= set(table.frame.columns)]
        if self.samples is None or not tables or "sample" not in frame.columns:
            return frame
        listed = pl.concat([table.frame.select(key) for table in tables]).unique()
        fresh = listed.join(frame, on=key, how="anti").join(frame, on="question", how="semi")
        whole = pl.concat([frame, fresh], how="diagonal_relaxed")
        if fresh.is_empty() or (cells(whole)["votes"] != self.samples).any():
            return frame
        self.said.append(f"{len(fresh):,} abstentions that only {listing([table.name for table in tables], 4)} list")
        return whole

    def _complete(self, frame: pl.DataFrame) -> None:
        """Refuse votes per model and question that are not what the corpus says."""
        import polars as pl

        found = cells(frame)
        models, questions = found["model"].n_unique(), found["question"].n_unique()
        total = int(found["votes"].sum())
        if self.samples is not None:
            odd = found.filter(pl.col("votes") != self.samples).sort(CELL)
            missing = models * questions - len(found)
            if len(odd) or missing:
                shown = (
                    ""
                    if not len(odd)
                    else (f", such as {odd['votes'][0]} of {quote(odd['model'][0])} on {quote(odd['question'][0])}")
                )
                raise InputError(
                    f"{len(odd) + missing:,} of {models * questions:,} pairs of model and question do not have "
                    f"{self.samples} votes{shown}{f'; {missing:,} have none' if missing else ''}"
                )
        each = f", {self.samples} per model and question" if self.samples is not None else ""
        self.said.append(f"{total:,} votes of {models} models on {questions:,} questions{each}")
        sizes = {row["dataset"]: int(row["questions"]) for row in published().tables["datasets"].rows}
        if questions != sizes.get(self.dataset, questions):
            self.said.append(f"the paper has {sizes[self.dataset]:,} questions")

    def _cross_check(self, records: pl.DataFrame, counts: pl.DataFrame) -> None:
        """Hold counts against records."""
        import polars as pl

        said = [pl.col("answer").is_not_null()] if not counts["answer"].null_count() else []
        mine, theirs = (categories(each.filter(*said) if said else each) for each in (records, counts))
        both = mine.join(theirs, on=[*CELL, "answer"], how="full", nulls_equal=True, suffix="_counted", coalesce=True)
        differing = both.filter(pl.col("votes").fill_null(0) != pl.col("votes_counted").fill_null(0))
        if len(differing):
            row = differing.sort(*CELL, "answer").row(0, named=True)
            raise InputError(
                f"records and vote counts disagree in {len(differing):,} places: of {quote(row['model'])} on "
                f"{quote(row['question'])}, {quote(str(row['answer']))} has {row['votes'] or 0} records and a count of "
                f"{row['votes_counted'] or 0}; leave one of the two in the folder"
            )
        self.said.append("records and vote counts agree")

    # --- grades, gold, reasons ---

    def _graded(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Join grades that stand in tables of their own."""
        import polars as pl

        tables = self._of("grades")
        if not tables:
            return _never_null(frame) if "correct" in frame.columns else frame
        grades = pl.concat([table.frame for table in tables], how="diagonal_relaxed")
        keys = self._grade_keys(frame, grades)
        if keys == ["question", "answer"]:
            grades = grades.with_columns(_spelt(pl.col("answer"), self.dataset))
        grades = grades.select(*keys, pl.col("correct").alias("grade")).unique()
        names = listing([table.name for table in tables], 4)
        if grades.select(keys).is_duplicated().any():
            raise InputError(f"{names}: two different grades for the same {', '.join(keys)}")
        joined = frame.join(grades, on=keys, how="left")
        lost = joined.filter(pl.col("answer").is_not_null() & pl.col("grade").is_null()).height
        if lost:
            ranges = (
                ""
                if "sample" not in keys
                else (
                    f" (samples of the votes run from {frame['sample'].min()!r} to {frame['sample'].max()!r}, of the "
                    f"grades from {grades['sample'].min()!r} to {grades['sample'].max()!r})"
                )
            )
            raise InputError(f"{lost:,} of {len(joined):,} votes have no grade in {names}{ranges}")
        if "correct" in joined.columns:
            clash = joined.filter(pl.col("answer").is_not_null() & (pl.col("correct") != pl.col("grade"))).height
            if clash:
                raise InputError(f"the grades in {names} contradict those of the votes in {clash:,} places")
        self.said.append(f"grades from {names}, joined on {', '.join(keys)}")
        return _never_null(joined.with_columns(pl.col("grade").alias("correct")).drop("grade"))

    def _grade_keys(self, frame: pl.DataFrame, grades: pl.DataFrame) -> list[str]:
        whole = [*CELL, "sample"]
        if set(whole) <= set(grades.columns) and set(whole) <= set(frame.columns):
            return whole
        if "answer" in grades.columns:
            return ["question", "answer"]
        raise InputError(
            "grades are in a separate table, and the votes and grades do not both have a sample number to join them on"
        )

    def _with_gold(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Find every question's gold answer: beside the votes, in a table of its own, or by the grades."""
        import polars as pl

        tables = self._of("gold")
        if "gold" in frame.columns:
            frame = frame.with_columns(pl.col("gold").fill_null(pl.col("gold").drop_nulls().first().over("question")))
        if tables:
            key = pl.concat([table.frame.select("question", "gold") for table in tables]).drop_nulls().unique()
            if is_choice(self.dataset):
                key = key.with_columns(_letter(pl.col("gold"))).unique()
            key = key.join(frame.select("question").unique(), on="question", how="semi").rename({"gold": "key"})
            names = listing([table.name for table in tables], 4)
            if key["question"].is_duplicated().any():
                raise InputError(f"{names}: two different gold answers for {quote(key['question'].unique()[0])}")
            frame = frame.join(key, on="question", how="left")
            if "gold" in frame.columns and "correct" not in frame.columns:
                clash = frame.filter(pl.col("gold") != pl.col("key")).height
                if clash:
                    raise InputError(f"gold answers beside {clash:,} votes are not those of {names}")
            known = [pl.col("gold")] if "gold" in frame.columns else []
            frame = frame.with_columns(pl.coalesce(*known, "key").alias("gold")).drop("key")
            self.said.append(f"gold answers of {len(key):,} questions from {names}")
        if "correct" in frame.columns and ("gold" not in frame.columns or frame["gold"].null_count()):
            frame = _gold_from_grades(frame)
            self.said.append("gold answers by the grades, where no table gives them")
        if "gold" not in frame.columns or frame["gold"].is_null().all():
            raise InputError("there are neither gold answers nor grades: map the column that holds them")
        several = frame.group_by("question").agg(pl.col("gold").n_unique()).filter(pl.col("gold") > 1)
        if len(several):
            raise InputError(
                f"{len(several):,} questions have more than one gold answer, such as {quote(several['question'][0])}; "
                "every question must have one gold answer"
            )
        if frame["gold"].null_count():
            lost = frame.filter(pl.col("gold").is_null())["question"].n_unique()
            raise InputError(f"{lost:,} questions have neither a gold answer nor a grade")
        return frame

    def _plausible(self, frame: pl.DataFrame) -> None:
        """Refuse answers that cannot be what the gold answers are about."""
        import polars as pl

        answered = frame.filter(pl.col("answer").is_not_null())
        given = answered.select("question", "answer").unique()["question"]
        if len(given) > 1 and given.is_unique().all() and answered["model"].n_unique() > 1:
            raise InputError(
                "all votes on every question are the same: the column of answers may hold gold answers; map another"
            )
        if not is_choice(self.dataset):
            if "correct" not in frame.columns:
                self.said.append("no grades: an answer counts as correct where it equals gold")
            return
        if answered.is_empty():
            raise InputError("every vote is an abstention")
        hits = answered.select((pl.col("answer") == pl.col("gold")).mean()).item()
        self._same_numbering(answered)
        example = f"answers such as {quote(answered['answer'][0])}, gold such as {quote(answered['gold'][0])}"
        if "correct" in frame.columns:
            clash = answered.filter((pl.col("answer") == pl.col("gold")) != pl.col("correct")).height
            if clash:
                raise InputError(
                    f"grades and gold answers disagree on {clash:,} of {len(answered):,} votes ({example}): answers "
                    "may be letters as shown; map the column of canonical answers to 'answer'"
                )
        elif hits < 0.02:
            raise InputError(f"only {100 * hits:.1f}% of the answers equal gold ({example}): map other columns")
        self._are_options(answered)

    def _are_options(self, answered: pl.DataFrame) -> None:
        """Refuse words, or letters beyond the options, that may stand for no answer."""
        import polars as pl

        letters = [chr(ord("A") + place) for place in range(OPTIONS.get(self.dataset, 26))]
        if not answered["gold"].is_in(letters).all():
            return
        weight = pl.col("votes").sum() if "votes" in answered.columns else pl.len()
        others = answered.filter(~pl.col("answer").is_in(letters)).group_by("answer").agg(weight.alias("number"))
        if others.is_empty():
            return
        others = others.sort("number", "answer", descending=[True, False])
        number, total = int(others["number"].sum()), int(answered.select(weight).item())
        said = f"{number:,} of {total:,} answers are no option's letter, such as {quote(others['answer'][0])}"
        if number > STRAY * total:
            raise InputError(f"{said}: make them null if they are abstentions")
        self.said.append(f"{said}: counted as wrong answers")

    def _same_numbering(self, answered: pl.DataFrame) -> None:
        """Refuse options that are numbered from 0 in one place and from 1 in the other."""
        import polars as pl

        given, gold = (answered[name].unique().cast(pl.Int64, strict=False) for name in ("answer", "gold"))
        if given.null_count() or gold.null_count() or given.is_empty():
            return
        if gold.min() != given.min() and gold.max() != given.max():
            raise InputError(
                f"answers are numbered from {span(given)}, and gold answers from {span(gold)}: they may not count from "
                "the same number; map other columns"
            )

    def _reasons(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Give every null vote its reason, in our words."""
        import polars as pl

        found = []
        for name in ("reason", "finish"):
            if name in frame.columns:
                words = reason_names(frame[name].drop_nulls().unique())
                found.append(pl.col(name).replace_strict(words, default=None, return_dtype=pl.String))
        ended = "finish" in frame.columns
        rest = "unanswered" if not is_choice(self.dataset) else "no_parse" if ended else None
        reason = pl.coalesce(*found, pl.lit(rest, pl.String))
        frame = frame.with_columns(pl.when(pl.col("answer").is_null()).then(reason).alias("reason"))
        nulls = frame.filter(pl.col("answer").is_null())
        tallied = nulls.group_by(pl.col("reason").fill_null("unstated")).agg(
            pl.col("votes").sum() if "votes" in frame.columns else pl.len().alias("votes")
        )
        listed = ", ".join(f"{count:,} {name}" for name, count in tallied.sort("reason").iter_rows())
        self.said.append(f"abstentions: {listed or 'none'}")
        return frame


def _silenced(frame: pl.DataFrame) -> pl.DataFrame:
    """Take an answer back where the record says that it is none."""
    import polars as pl

    silent = pl.lit(False)
    if "abstained" in frame.columns:
        silent = silent | pl.col("abstained").fill_null(False)
    if "parsed" in frame.columns:
        silent = silent | ~pl.col("parsed").fill_null(True)
    return frame.with_columns(pl.when(~silent).then("answer").alias("answer"))


def _spelt(column: pl.Expr, dataset: str) -> pl.Expr:
    """An answer as it is compared: a letter, or text without regard to case and spacing."""
    return _letter(column) if is_choice(dataset) else column.str.to_lowercase().str.replace_all(r"\s+", " ")


def _letter(column: pl.Expr) -> pl.Expr:
    """An option's letter in one spelling: a, (A), A. and A) are A."""
    import polars as pl

    bare = column.str.strip_chars(" ().[]:").str.to_uppercase()
    return pl.when(bare.str.contains("^[A-Z]$")).then(bare).otherwise(column)


def _never_null(frame: pl.DataFrame) -> pl.DataFrame:
    """A null vote is never correct; an answer without a grade is refused."""
    import polars as pl

    ungraded = frame.filter(pl.col("answer").is_not_null() & pl.col("correct").is_null()).height
    if ungraded:
        raise InputError(f"{ungraded:,} of {len(frame):,} votes have an answer but no grade")
    return frame.with_columns((pl.col("correct") & pl.col("answer").is_not_null()).fill_null(False).alias("correct"))


def _gold_from_grades(frame: pl.DataFrame) -> pl.DataFrame:
    """Take for gold, where none is given, the answer that is graded correct most often."""
    import polars as pl

    number = pl.col("votes").sum().alias("len") if "votes" in frame.columns else pl.len().alias("len")
    best = (
        frame.filter("correct")
        .group_by("question", "answer")
        .agg(number)
        .sort("question", "len", "answer", descending=[False, True, False])
        .unique("question", keep="first", maintain_order=True)
        .select("question", pl.col("answer").alias("graded"))
    )
    known = [pl.col("gold")] if "gold" in frame.columns else []
    joined = frame.join(best, on="question", how="left")
    return joined.with_columns(pl.coalesce(*known, "graded", pl.lit(UNGRADED_GOLD)).alias("gold")).drop("graded")
