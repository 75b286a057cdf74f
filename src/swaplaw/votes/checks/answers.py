"""Answers that do not mean what they say: silence, words that stand for none, other spellings, no options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from fractions import Fraction
from itertools import groupby
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING

from swaplaw.answers.characters import unify
from swaplaw.answers.forms import letter as option_letter
from swaplaw.answers.hedges import bounds, hedged, negated, rough
from swaplaw.errors import listing, quote, several
from swaplaw.votes.checks.golds import alternatives, gold_at_fault
from swaplaw.votes.checks.places import relabelled
from swaplaw.votes.checks.seen import (
    CHAINS,
    SERIOUS,
    SURE,
    Check,
    Seen,
    Severity,
    by_model,
    commonest,
    form,
    texts_of,
    total,
    votes_by_model,
    where,
)
from swaplaw.votes.checks.silence import is_no_answer, silence

if TYPE_CHECKING:
    import polars as pl

MOST_PAIRS = 5_000
"""Different pairs of a wrong answer and its gold that are compared, those with the most votes first."""
LONGEST_PHRASE = 80
"""Longer answers say more than a number."""
LONGEST_REPLY = 400
"""Characters of an answer that may say gold among other words; longer ones are reasoning, which names many things."""
LONG_ENOUGH = 3
"""Characters of a gold from which on it is not in an answer by chance."""
MOST_TEXTS = 1_000
"""Different texts whose shape is looked at."""
LONGEST_OUTLINE = 200
"""Characters of a text whose outline is told."""
SELDOM, MOSTLY = 0.1, 0.8
"""Shares of answers with the outline of a gold: of a model that writes otherwise, and of the others."""
FOREIGN_LETTERS, FOREIGN = 0.2, 0.5
"""From this share of answers that are no options on, a model answers with something else: letters, or other words."""
FEW_FOREIGN = 5
"""Questions with such answers before they are held against a model."""
HARDLY = 0.001
"""How likely, at most, guesses are never right where a model is not guessing but misread."""
FAR_BELOW = 4.0
"""Standard errors below chance at which a model is not guessing but misread."""
MANY = 30
"""Questions on which a model is never right before the shape of its answers is held against it."""
MOST_OPTIONS = 10
"""Letters that replies are searched for when a check looks whether they name options at all."""
OPTIONS = 26
"""Options that a question has at most."""
_GOLD = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?")
_TOKEN = re.compile(r"(?<![\w^.,/(\\])[-+]?[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w^/!])|"
                    r"(?<![\w^.,/(\\])[-+]?[$€£]?\d{1,3}(?:\.\d{3})+(?:,\d+)?(?![\w^/!(.])|"
                    r"(?<![\w^.,/(\\])[-+]?[$€£]?\d{1,30}(?:[.,]\d{1,30})?(?![\w^/!(])")  # fmt: skip
_WORDS = re.compile(r"[\s.:#*=$€£¥%,\"']*(?:[^\W\d_]{1,20}(?![^\W\d_])[\s.:#*=$€£¥%,\"']*){0,8}")
_ENGLISH = re.compile(r"[-+]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d+)?")
"""A number with a point before its decimals and, maybe, commas between its thousands."""
_SWAPPED = str.maketrans(",.", ".,")
_OTHERWISE = re.compile(
    r"\b(?:minus|negative|root|sqrt|log|half|twice|times|per|hundred|thousand|[mb]illion)\b|except", re.I
)
_DATED = re.compile(r"(?=.*(?<!\d)\d{4}(?!\d))(?=.*(?:[-/]|[^\W\d_]{3})).{8,40}")
"""A text with a year and a month or a separator: only such texts are worth a try as dates, which takes long."""
_ISO = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].{0,20})?")
_FORMULA = re.compile(r"[\\^=<>]")
"""Gold inside a formula is a part of another value."""
_NO_WORDING = re.compile(r"[\d<>{}\[\]()=+*/\\|^$#@&%~]")
"""Numbers and code: the same number or list, wrong again and again, is an answer."""
_SIGNS = re.compile(r"[^\w\s]|[\d_]")
_NEVER_GOLD = re.compile(r"#?n/?a|n\.a\.?|nan|null|<na>|\s*", re.IGNORECASE)
"""What tools write where a cell is empty. "None" and "-" may be answers; these hardly ever are."""
_LETTERS_IN_REPLIES = "read the letters that its replies name: `swaplaw import VOTES --read choice -o votes.parquet`"
_SPELL = "spell answers and golds alike: `swaplaw import VOTES --canonical {} -o votes.parquet`"
_DATES = "write dates in one way: `swaplaw import VOTES --canonical time -o votes.parquet`"
_NUMBERS = "write the number alone in the column `answer`, as gold is written: no canonical form does this"
_REPLIES = "read answers from replies (`--read text`), or let a model judge which mean the same (`import --judge`)"


def abstentions(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Models that say nothing, or little."""
    for model, said in seen.models.items():
        each = "its only vote" if said.votes == 1 else f"each of its {said.votes:,} votes"
        if not said.answers:
            yield seen.check(
                "no_answers", "error", model, seen.questions,
                f"{quote(model)} has no answer at all: {each} is an error or an abstention",
                "look at why its answers could not be read, or leave the model out",
            )  # fmt: skip
        elif 2 * said.answers < said.votes:
            yield seen.check(
                "many_abstentions", "warning", model, seen.questions,
                f"{quote(model)} abstains in {1 - said.answers / said.votes:.0%} of its votes",
                "look at why its answers could not be read: `swaplaw summary` shows the reasons",
            )  # fmt: skip


def no_gold(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Right answers that stand for no answer."""
    for gold in sorted(filter(is_no_answer, seen.golds)):
        rows = seen.rows.filter(gold=gold)
        n = rows["question"].n_unique()
        # What models answer where it is gold is a label: Na is sodium, NA Namibia. One question shows too little.
        known = total(rows.filter("right")) >= SERIOUS * total(rows)
        if 2 * n > seen.questions or (not known and (n >= FEW_FOREIGN or _NEVER_GOLD.fullmatch(gold))):
            yield seen.check(
                "no_gold", "error" if n >= SERIOUS * seen.questions else "warning", None, n,
                f"the right answer is {quote(gold)} on {several(n, 'question')}, as if there were none",
                "give these questions their right answers, or leave them out",
            )  # fmt: skip


def no_answers_as_text(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Words that stand for no answer, but vote like one."""
    # Where answers were graded, what was right somewhere is an answer, too.
    silent, doubtful = silence(seen.golds.union(texts_of(seen.right)))
    # Where golds are a few labels, "unknown" may be a label that just is never right here.
    doubts: Severity = "warning" if seen.closed and not seen.letters else "error"
    words = where(seen.wrong, lambda text: doubtful(text) and not silent(text))
    spoken: list[tuple[pl.DataFrame, Severity]] = [(where(seen.wrong, silent), "error"), (words, doubts)]
    for some, worst in spoken:
        for model, rows in by_model(some):
            votes = total(rows)
            yield seen.check(
                "no_answer_as_text", worst if votes >= SERIOUS * seen.models[model].votes else "warning", model,
                rows["question"].n_unique(),
                f"{quote(model)} has {several(votes, 'vote')} for {quote(commonest(rows))}, which counts as an answer "
                "like any other",
                "make these answers null: leave the cell of the column `answer` empty",
            )  # fmt: skip
    if seen.golds and not seen.closed:
        yield from _said_to_many(seen, lambda text: silent(text) or doubtful(text))


def _said_to_many(seen: Seen, told: Callable[[str], bool]) -> Iterator[Check]:
    """Words that a model says to many questions and that look like no gold: a refusal in whatever language."""
    import polars as pl

    often = seen.wrong.group_by("model", "answer").agg(pl.len(), pl.col("votes").sum(), pl.col("question").n_unique())
    outlines = set(map(outline, seen.golds))
    for model, text, _, votes, questions in often.filter(pl.col("len") >= SURE).sort("model", "answer").iter_rows():
        wording = not _NO_WORDING.search(text) and any(map(str.isalpha, text))
        if votes < SERIOUS * seen.models[model].votes or told(text) or not wording or outline(text) in outlines:
            continue
        yield seen.check(
            "no_answer_as_text", "warning", model, questions,
            f"{quote(model)} answers {quote(text)} to {several(questions, 'question')}, unlike any gold, and it counts "
            "as an answer like any other",
            "if it stands for no answer, make it null: leave the cell of the column `answer` empty",
        )  # fmt: skip


def misread(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Wrong answers that are gold in another spelling or notation, or say it among other words."""
    import polars as pl

    wrong, votes, pair = seen.wrong.drop_nulls("gold"), pl.col("votes"), ["answer", "gold"]
    often = wrong.group_by(pair).agg(votes.sum()).sort("votes", "answer", "gold", descending=True).head(MOST_PAIRS)
    options = seen.golds if seen.closed else set()
    meant = [(answer, gold, *told) for answer, gold, _ in often.iter_rows() if (told := _meant(answer, gold, options))]
    if not meant:
        return
    kinds = pl.DataFrame(meant, [*pair, "kind", "fix"], orient="row").cast({name: wrong[name].dtype for name in pair})
    read = wrong.join(kinds, on=pair)
    for kind in ("spelling", "notation", "wrong_yet_gold"):
        for model, own in by_model(read.filter(kind=kind)):
            rows = own.filter(~_other_case(seen, model, own)) if kind == "spelling" else own
            if not rows.is_empty():
                yield _misread_check(seen, kind, model, rows)


def _misread_check(seen: Seen, kind: str, model: str, rows: pl.DataFrame) -> Check:
    import polars as pl

    votes, share = total(rows), total(rows) / seen.models[model].votes
    fix = rows.group_by("fix").agg(pl.col("votes").sum()).sort("votes", "fix")["fix"][-1]
    example = ("question", "answer") if kind == "spelling" else (-pl.col("votes"), "answer", "gold")
    first = rows.filter(fix=fix).sort(example).row(0, named=True)
    counts = f"count{'s' if votes == 1 else ''} as wrong"
    shown = "under 1%" if share < 0.01 else f"{share:.0%}"
    differs = f"({shown}) {'differs' if votes == 1 else 'differ'} from gold only in {kind}"
    if kind == "wrong_yet_gold":
        differs = f"({share:.1%}) {'has' if votes == 1 else 'have'} gold among other words"
    return seen.check(
        kind, "error" if share >= SERIOUS and kind != "wrong_yet_gold" else "warning", model,
        rows["question"].n_unique(),
        f"{quote(model)} answers {quote(first['answer'])} where gold is {quote(first['gold'])}: "
        f"{several(votes, 'vote')} {differs}, and {counts}",
        fix,
        share,
    )  # fmt: skip


def _meant(answer: str, gold: str, options: Set[str]) -> tuple[str, str] | None:
    """How a wrong answer differs from gold, and how to fix it, if it means gold."""
    if chain := _chain(answer, gold):
        return "spelling", _SPELL.format(chain)
    if len(answer) <= LONGEST_PHRASE:
        if _GOLD.fullmatch(gold.strip()):
            return ("notation", _NUMBERS) if Fraction(gold.strip()) in values(answer) else None
        date = _DATED.fullmatch(gold.strip()) is not None and _ISO.fullmatch(form("time")(gold)) is not None
        if date and form("time")(answer) == form("time")(gold):
            return "notation", _DATES
    return ("wrong_yet_gold", _REPLIES) if says(answer, gold, options) else None


def _chain(answer: str, gold: str) -> str | None:
    """The canonical forms, if any, by which an answer is gold; it is never one of several golds."""
    if alternatives(gold) and not alternatives(answer):
        return None
    # Mathematics lets letters change places, as factors may: IV is not VI, nor "no" the same as "on".
    words = not _SIGNS.search(answer + gold)
    chains = (chain for chain in CHAINS if not (words and chain == "math"))
    return next((chain for chain in chains if form(chain)(answer) == form(chain)(gold)), None)


def _other_case(seen: Seen, model: str, rows: pl.DataFrame) -> pl.Series:
    """Which answers differ from gold in case alone, where both are golds and the model writes both: it means them."""
    import polars as pl

    pairs = rows.select("answer", "gold").rows()
    twins = [answer in seen.golds and answer.casefold() == gold.casefold() for answer, gold in pairs]
    written = set(texts_of(seen.answered.filter(model=model))) if any(twins) else set()
    return pl.Series([twin and gold in written for twin, (_, gold) in zip(twins, pairs, strict=True)], dtype=pl.Boolean)


def values(text: str) -> list[Fraction]:
    """What the only number of a short text may be meant as: as it stands, with points for commas, or per cent.

    >>> [str(value) for value in values("50%")], values("less than 5"), values("5 or 6")
    (['50', '1/2'], [], [])
    """
    text = unify(text)
    found = [*_TOKEN.finditer(text)]
    if len(found) != 1:
        return []
    token, rest = found[0], text[: found[0].start()] + " " + text[found[0].end() :]
    said = _WORDS.fullmatch(rest) is not None and not _OTHERWISE.search(rest)
    if not said or any(told(text) for told in (negated, hedged, bounds, rough)):
        return []
    digits = re.sub(r"[$€£]", "", token[0])
    spelt = dict.fromkeys((digits, digits.translate(_SWAPPED)))
    read = [Fraction(each.replace(",", "")) for each in spelt if _ENGLISH.fullmatch(each)]
    return read + [value / 100 for value in read] if text[token.end() :].lstrip().startswith("%") else read


def says(answer: str, gold: str, options: Set[str]) -> bool:
    """Whether an answer says gold in words, without doubt, denial or another option, and is not gold in a spelling.

    >>> says("The capital is Oslo.", "Oslo", set()), says("It is not Oslo.", "Oslo", set())
    (True, False)
    """
    if len(answer) > LONGEST_REPLY or len(gold) < LONG_ENOUGH or not any(map(str.isalpha, gold)):
        return False
    if not _has(answer, gold) or _FORMULA.search(answer):
        return False
    if any(told(answer) for told in (negated, hedged)) or (alternatives(answer) and not alternatives(gold)):
        return False
    return not any(option != gold and _has(answer, option) for option in options)


def _has(answer: str, gold: str) -> bool:
    """Whether a text holds another as whole words."""
    return re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", answer, re.IGNORECASE) is not None


def numbered_otherwise(answers: Iterable[str], golds: Iterable[str]) -> str | None:
    """Say how, where answers number the options from 0 and golds from 1, or the other way round.

    >>> numbered_otherwise(["0", "1", "2"], ["1", "2", "3"])
    'answers number the options from 0 to 2 and golds from 1 to 3'
    """
    texts = (set(answers), set(golds))
    if not all(len(found) <= OPTIONS and all(map(str.isdecimal, found)) for found in texts):
        return None
    given, right = ({int(text) for text in found} for found in texts)
    if len(right) < 3 or not any(given == {gold + step for gold in right} for step in (-1, 1)):
        return None
    return f"answers number the options from {min(given)} to {max(given)} and golds from {min(right)} to {max(right)}"


def shifted(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Options that answers and golds number from different beginnings."""
    if how := numbered_otherwise(texts_of(seen.answered), seen.golds):
        yield seen.check("numbered_otherwise", "error", None, seen.questions, how, "number both alike")


def errors_of(found: Sequence[Check], *names: str) -> set[str | None]:
    """The models that errors of these names are about."""
    return {check.model for check in found if check.severity == "error" and check.name in names}


def foreign(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Models that do not answer with options, and models that are right less often than guessing would be."""
    if not seen.closed or gold_at_fault(seen) or errors_of(found, "numbered_otherwise"):
        return
    # What counts as no answer at all, and models that only spell options differently, have checks of their own.
    misspelt, flagged = errors_of(found, "spelling", "notation"), errors_of(found, "no_answer_as_text")
    silent, doubtful = silence(seen.golds)
    outside = where(seen.answered, lambda text: not (seen.is_option(text) or silent(text) or doubtful(text)))
    strange = {model: votes / seen.models[model].answers for model, votes in votes_by_model(outside).items()}
    # Where another model hardly ever leaves the options, a fifth outside is no part of the task; counts may well be.
    settled = any(strange.get(model, 0.0) < SERIOUS for model, said in seen.models.items() if said.asked >= SURE)
    strict = seen.letters or (settled and not seen.highest)
    limit = FOREIGN_LETTERS if strict else FOREIGN
    for model, rows in by_model(outside):
        share, n = strange[model], rows["question"].n_unique()
        if model not in misspelt and share >= (SERIOUS if strict else limit) and n >= FEW_FOREIGN:
            flagged.add(model)
            yield seen.check(
                "not_an_option", "error" if share >= limit else "warning", model, n,
                f"{quote(model)} answers {quote(commonest(rows))} where the right answers are "
                f"{listing(sorted(seen.golds), 3)}: {share:.0%} of its answers are none of the options",
                _LETTERS_IN_REPLIES
                if seen.letters and not seen.highest and _names_letters(texts_of(rows)[:200])
                else "write the option's letter or label in the column `answer`, as in the column `gold`",
            )  # fmt: skip
    for model, said in seen.models.items():
        if said.answers and model not in flagged | misspelt:
            yield from _below_chance(seen, model)


def _below_chance(seen: Seen, model: str) -> Iterator[Check]:
    """A model that is right less often than guessing would be, or that would be right under other labels."""
    chance, said, own = 1 / len(seen.golds), seen.models[model], seen.answered.filter(model=model)
    far = (chance - said.share) / sqrt(chance * (1 - chance) / said.asked)
    # Whoever counts is often wrong by one: numbers are labels only if all of them begin elsewhere.
    counts = seen.highest and (said.share > chance or not numbered_otherwise(texts_of(own), seen.golds))
    labels = None if counts else relabelled(seen, own)
    sure = labels or (far > FAR_BELOW and said.share < chance / 2)
    sure = sure or (not said.right and (1 - chance) ** said.asked < HARDLY)
    # Where all models are as often wrong, questions were chosen on which they are: that is no fault of their answers.
    known = any(each.right > chance * each.answers for name, each in seen.models.items() if name != model)
    if sure or far > FAR_BELOW:
        blame = f": its answers (such as {quote(commonest(own))}) do not mean what gold means" if sure else ""
        yield seen.check(
            "below_chance", "error" if labels or (sure and known) else "warning", model, said.asked,
            f"{quote(model)} is right in {said.share:.1%} of its answers, where guessing would be right in about "
            f"{chance:.0%}{f'; {labels}' if labels else blame}",
            "check that its answers and the column `gold` name options in the same way and the same order",
        )  # fmt: skip


def _names_letters(texts: list[str]) -> bool:
    """Whether most of some answers are whole replies that name a letter, such as "The answer is B."."""
    from swaplaw.answers.choice import read_choice  # Here: its patterns take longer to compile than a check takes.

    return 2 * sum(read_choice(text, MOST_OPTIONS) is not None for text in texts) > len(texts)


def never_right(seen: Seen, found: Sequence[Check]) -> Iterator[Check]:
    """Without options there is no chance to go by: a model that is never right beside models that often are."""
    shares = {model: said.share for model, said in seen.models.items() if said.answers}
    best = max(shares.values(), default=0.0)
    if not seen.rows["labelled"].any():
        return
    never = [model for model, share in shares.items() if not share and seen.models[model].asked >= SURE]
    # These errors say why a model is never right.
    noted = errors_of(found, "spelling", "notation", "displaced_answers")
    if not best and shares and (len(never) == len(shares) or gold_at_fault(seen)):
        if not noted >= set(never):
            yield _nobody_right(seen)
    elif best >= 0.2 and not seen.closed:
        for model in (model for model in never if model not in noted):
            yield _model_never_right(seen, model, best)


def _model_never_right(seen: Seen, model: str, best: float) -> Check:
    import polars as pl

    own, others = seen.wrong.filter(model=model), seen.wrong.filter(pl.col("model") != model)
    golds, n = sorted(seen.golds), seen.models[model].asked
    letters = all(len(option_letter(text)) == 1 for text in texts_of(own))
    # Answers that say gold among other words, where a fifth do: {"answer": "Oslo"}, "The capital is Oslo.".
    pairs = own.select("answer", "gold").rows()
    told = [gold is not None and len(gold) >= LONG_ENOUGH and _has(answer, gold) for answer, gold in pairs]
    such = own.filter(pl.Series(told, dtype=pl.Boolean))
    around = total(such) >= FOREIGN_LETTERS * total(own) and such["question"].n_unique() >= FEW_FOREIGN
    alien = n >= MANY and unlike_gold(texts_of(own), golds, texts_of(others))
    where = (
        " where gold is not a letter" if letters
        else ", which has gold in it" if around
        else f" where gold is such as {quote(golds[0])}" if alien
        else ""
    )  # fmt: skip
    return seen.check(
        "never_right", "error" if letters or alien or around else "warning", model, n,
        f"{quote(model)} is never right, where others are right in up to {best:.0%} of their votes; it gives "
        f"answers such as {quote(commonest(such if around else own))}{where}",
        "write its answers in the column `answer` as gold is written"
        if alien or around
        else "check that its answers are spelt as gold is",
    )  # fmt: skip


def _nobody_right(seen: Seen) -> Check:
    first = seen.wrong.sort("question", "model", "answer").row(0, named=True)
    answer, gold = quote(first["answer"]), first["gold"]
    expected = "" if gold is None else f", and gold such as {quote(gold)}"
    what = f"no vote of any model is right: there are answers such as {answer}{expected}"
    fix = "check that answers and the column `gold` belong to the same questions, and are spelt alike"
    if gold_at_fault(seen):
        what = f"gold is at fault: no vote is right, since answers are letters such as {answer}{expected}"
        fix = "write the letter of each right option in the column `gold`"
    return seen.check("never_right", "error", None, seen.questions, what, fix)


def unlike_gold(texts: Sequence[str], golds: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a model hardly ever writes as golds are written, where other models do when they are wrong.

    Much longer answers are never written as golds are, whatever the others do.

    >>> unlike_gold(["five", "six"], ["5", "6"], ["8"]), unlike_gold(["7", "8"], ["5", "6"], ["8"])
    (True, False)
    >>> unlike_gold(["9h05", "10h30"], ["9:15", "8:40"], ["7:45"])
    True
    """
    known = set(map(outline, golds))
    own, usual = (
        sum(outline(text) in known for text in some[:MOST_TEXTS]) / len(some[:MOST_TEXTS]) if some else 1.0
        for some in (texts, others)
    )
    lengths = [median(len(text) for text in some[:MOST_TEXTS]) for some in (texts, golds) if some]
    return (own < SELDOM and usual > MOSTLY) or (len(lengths) == 2 and lengths[0] > 4 * lengths[1] + 20)


def outline(text: str) -> str:
    """How a text is written, whatever it says: letters, digits and signs in their order, runs of each as one.

    >>> outline("10h30"), outline("-1,234.50 €"), outline("New York")
    ('0a0', '-0,0.0 €', 'a a')
    """
    kinds = ("a" if char.isalpha() else "0" if char.isdigit() else char for char in unify(text[:LONGEST_OUTLINE]))
    return "".join(kind for kind, _ in groupby(kinds))
