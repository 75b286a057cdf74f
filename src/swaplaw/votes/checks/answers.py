"""Answers that do not mean what they say: silence, words that stand for none, other spellings, no options."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from fractions import Fraction
from itertools import groupby
from statistics import median

import numpy as np

from swaplaw._arrays import Bools
from swaplaw.answers.characters import unify
from swaplaw.answers.forms import letter as option_letter
from swaplaw.answers.hedges import bounds, hedged, negated, rough
from swaplaw.errors import listing, quote, several
from swaplaw.votes.checks.ballots import CHAINS, SERIOUS, SURE, Ballots, Check, Rows, Severity, form, votes_differ
from swaplaw.votes.checks.golds import alternatives, gold_at_fault
from swaplaw.votes.checks.places import displaced, relabelled
from swaplaw.votes.checks.silence import is_no_answer, silence

MOST_PAIRS = 5_000
"""Different pairs of a wrong answer and its gold that are compared, those with the most votes first."""
LONGEST_PHRASE = 80
"""Longer answers say more than a number."""
MOST_TEXTS = 1_000
"""Different texts whose shape is looked at."""
LONGEST_OUTLINE = 200
"""Characters of a text whose outline is told."""
SELDOM, MOSTLY = 0.1, 0.8
"""Shares of answers with the outline of a gold: of a model that writes otherwise, and of the others."""
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
_DATE_FIX = "write dates in one way: `swaplaw import VOTES --canonical time -o votes.parquet`"
_NUMBER_FIX = "write the number alone in the column `answer`, as gold is written: no canonical form does this"


def other_notation(ballots: Ballots) -> Iterator[Check]:
    """Wrong answers that are gold in another notation: 50% for 0.5, 3,5 for 3.5, "The answer is 5." for 5."""
    names, golds = ballots.names, ballots.rows.sizes.golds
    wanted = [
        place
        for place in ballots.rows.golds.tolist()
        if _GOLD.fullmatch(names.golds[place].strip()) or _is_date(names.golds[place])
    ]
    if not wanted:
        return
    wrong = ballots.wrong.where(np.isin(ballots.wrong.gold, wanted))
    *pair, often = wrong.per(wrong.answer, wrong.sizes.answers, wrong.gold, golds)
    common = np.lexsort((pair[1], pair[0], -often))[:MOST_PAIRS]
    fixes = {
        answer * golds + gold: fix
        for answer, gold in zip(*(place[common].tolist() for place in pair), strict=True)
        if (fix := _meant(names.answers[answer], names.golds[gold]))
    }
    if not fixes:
        return
    for model, rows in ballots.by_model(wrong.where(np.isin(wrong.answer * golds + wrong.gold, list(fixes)))):
        share = rows.total / ballots.votes[model]
        example = np.lexsort((rows.gold, rows.answer, -rows.votes))[0]
        answer, gold = names.answers[rows.answer[example]], names.golds[rows.gold[example]]
        yield ballots.check(
            "notation", "error" if share >= SERIOUS else "warning", model, rows.questions,
            f"{quote(model)} answers {quote(answer)} where gold is {quote(gold)}: {votes_differ(rows.total, share)} "
            f"from gold only in notation, and count{'s' if rows.total == 1 else ''} as wrong",
            fixes[int(rows.answer[example]) * golds + int(rows.gold[example])],
            share,
        )  # fmt: skip


def _meant(answer: str, gold: str) -> str | None:
    """How to fix an answer that is gold in another notation; spellings that a canonical form fixes are not meant."""
    if len(answer) > LONGEST_PHRASE or any(form(chain)(answer) == form(chain)(gold) for chain in CHAINS):
        return None
    if _GOLD.fullmatch(gold.strip()):
        return _NUMBER_FIX if Fraction(gold.strip()) in values(answer) else None
    return _DATE_FIX if form("time")(answer) == form("time")(gold) else None


def _is_date(gold: str) -> bool:
    return _DATED.fullmatch(gold.strip()) is not None and _ISO.fullmatch(form("time")(gold)) is not None


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


def unlike_gold(texts: Sequence[str], golds: Sequence[str], others: Sequence[str]) -> bool:
    """Whether a model hardly ever writes as golds are written, where other models do when they are wrong.

    Much longer answers are never written as golds are, whatever the others do.

    >>> unlike_gold(["five", "six"], ["5", "6"], ["8"]), unlike_gold(["7", "8"], ["5", "6"], ["8"])
    (True, False)
    >>> unlike_gold(["9h05", "10h30"], ["9:15", "8:40"], ["7:45"])
    True
    """
    known = set(map(outline, golds))
    own, usual = (_share_of(known, some) for some in (texts, others))
    lengths = [median(len(text) for text in some[:MOST_TEXTS]) for some in (texts, golds) if some]
    return (own < SELDOM and usual > MOSTLY) or (len(lengths) == 2 and lengths[0] > 4 * lengths[1] + 20)


def _share_of(known: Set[str], texts: Sequence[str]) -> float:
    """The share of texts whose outline is known; of no texts, all."""
    some = texts[:MOST_TEXTS]
    return sum(outline(text) in known for text in some) / len(some) if some else 1.0


def outline(text: str) -> str:
    """How a text is written, whatever it says: letters, digits and signs in their order, runs of each as one.

    >>> outline("10h30"), outline("-1,234.50 €"), outline("New York")
    ('0a0', '-0,0.0 €', 'a a')
    """
    kinds = ("a" if char.isalpha() else "0" if char.isdigit() else char for char in unify(text[:LONGEST_OUTLINE]))
    return "".join(kind for kind, _ in groupby(kinds))


FOREIGN_LETTERS, FOREIGN = 0.2, 0.5
"""From this share of answers that are no options on, a model answers with something else: letters, or other words."""
FEW_FOREIGN = 5
"""Questions with such answers before they are held against a model."""
HARDLY = 0.001
"""How likely, at most, guesses are never right where a model is not guessing but misread."""
FAR_BELOW = 4.0
"""Standard errors below chance at which a model is not guessing but misread."""
_LETTERS_IN_REPLIES = "read the letters that its replies name: `swaplaw import VOTES --read choice -o votes.parquet`"
MANY = 30
"""Questions on which a model is never right before the shape of its answers is held against it."""
MOST_OPTIONS = 10
"""Letters that replies are searched for when a check looks whether they name options at all."""
MOST_SPELLINGS = 5_000
"""Different pairs of a wrong answer and its gold that are compared, those with the most votes first."""
LONGEST_REPLY = 400
"""Characters of an answer that may say gold among other words; longer ones are reasoning, which names many things."""
_FORMULA = re.compile(r"[\\^=<>]")
"""Gold inside a formula is a part of another value."""
LONG_ENOUGH = 3
"""Characters of a gold from which on it is not in an answer by chance."""
OPTIONS = 26
"""Options that a question has at most."""
_NO_WORDING = re.compile(r"[\d<>{}\[\]()=+*/\\|^$#@&%~]")
"""Numbers and code: the same number or list, wrong again and again, is an answer."""
_SIGNS = re.compile(r"[^\w\s]|[\d_]")
_NEVER_GOLD = re.compile(r"#?n/?a|n\.a\.?|nan|null|<na>|\s*", re.IGNORECASE)
"""What tools write where a cell is empty. "None" and "-" may be answers; these hardly ever are."""


def abstentions(ballots: Ballots) -> Iterator[Check]:
    """Models that say nothing, or little."""
    for model in ballots.models:
        votes, answers = ballots.votes[model], ballots.answers.get(model, 0)
        if not answers:
            yield ballots.check(
                "no_answers", "error", model, ballots.questions,
                f"{quote(model)} has no answer at all: {_each_of_its(votes)} is an error or an abstention",
                "look at why its answers could not be read, or leave the model out",
            )  # fmt: skip
        elif 2 * answers < votes:
            yield ballots.check(
                "many_abstentions", "warning", model, ballots.questions,
                f"{quote(model)} abstains in {1 - answers / votes:.0%} of its votes",
                "look at why its answers could not be read: `swaplaw summary` shows the reasons",
            )  # fmt: skip


def _each_of_its(votes: int) -> str:
    return "its only vote" if votes == 1 else f"each of its {votes:,} votes"


def no_answers_as_text(ballots: Ballots) -> Iterator[Check]:
    """Words that stand for no answer, but vote like one."""
    for place in ballots.rows.golds:
        gold = ballots.names.golds[place]
        if not is_no_answer(gold):
            continue
        rows = ballots.rows.where(ballots.rows.gold == place)
        n = rows.questions
        # What models answer where it is gold is a label: Na is sodium, NA Namibia. One question shows too little.
        known = rows.where(rows.right).total >= SERIOUS * rows.total
        if 2 * n > ballots.questions or (not known and (n >= FEW_FOREIGN or _NEVER_GOLD.fullmatch(gold))):
            yield ballots.check(
                "no_gold", "error" if n >= SERIOUS * ballots.questions else "warning", None, n,
                f"the right answer is {quote(gold)} on {several(n, 'question')}, as if there were none",
                "give these questions their right answers, or leave them out",
            )  # fmt: skip
    # Where answers were graded, what was right somewhere is an answer, too.
    right = ballots.texts(ballots.answered.where(ballots.answered.right))
    silent, doubtful = silence(ballots.golds.union(right))
    yield from _voting_silence(ballots, ballots.where(ballots.wrong, silent), "error")
    # Where golds are a few labels, "unknown" may be a label that just is never right here.
    words = ballots.where(ballots.wrong, lambda text: doubtful(text) and not silent(text))
    yield from _voting_silence(ballots, words, "warning" if ballots.closed and not ballots.letters else "error")
    if ballots.golds and not ballots.closed:
        yield from _said_to_many(ballots, lambda text: silent(text) or doubtful(text))


def _voting_silence(ballots: Ballots, words: Rows, worst: Severity) -> Iterator[Check]:
    for model, rows in ballots.by_model(words):
        votes, share = rows.total, rows.total / ballots.votes[model]
        yield ballots.check(
            "no_answer_as_text", worst if share >= SERIOUS else "warning", model, rows.questions,
            f"{quote(model)} has {several(votes, 'vote')} for {quote(ballots.first(rows))}, which counts as an answer "
            "like any other",
            "make these answers null: leave the cell of the column `answer` empty",
        )  # fmt: skip


def _said_to_many(ballots: Ballots, told: Callable[[str], bool]) -> Iterator[Check]:
    """Words that a model says to many questions and that look like no gold: a refusal in whatever language."""
    for model, rows in ballots.by_model(ballots.wrong):
        for place in np.flatnonzero(np.bincount(rows.answer) >= SURE).tolist():
            text, such = ballots.names.answers[place], rows.where(rows.answer == place)
            if such.total < SERIOUS * ballots.votes[model] or told(text) or not _is_wording(text):
                continue
            if outline(text) not in set(map(outline, ballots.golds)):
                yield ballots.check(
                    "no_answer_as_text", "warning", model, such.questions,
                    f"{quote(model)} answers {quote(text)} to {several(such.questions, 'question')}, unlike any gold, "
                    "and it counts as an answer like any other",
                    "if it stands for no answer, make it null: leave the cell of the column `answer` empty",
                )  # fmt: skip


def _is_wording(text: str) -> bool:
    return _NO_WORDING.search(text) is None and any(map(str.isalpha, text))


def spelling(ballots: Ballots) -> Iterator[Check]:
    """Wrong answers that are gold, spelt differently."""
    names, golds = ballots.names, ballots.rows.sizes.golds
    wrong = ballots.wrong.where(ballots.wrong.gold < golds)
    *pair, often = wrong.per(wrong.answer, wrong.sizes.answers, wrong.gold, golds)
    # The most frequent first; of equals, the last by name.
    common = np.lexsort((pair[1], pair[0], often))[::-1][:MOST_SPELLINGS]
    chains = {
        answer * golds + gold: chain
        for answer, gold in zip(*(place[common].tolist() for place in pair), strict=True)
        if (chain := _chain(names.answers[answer], names.golds[gold]))
    }
    if not chains:
        return
    key = wrong.answer * golds + wrong.gold
    for model, respelt in ballots.by_model(wrong.where(np.isin(key, list(chains)))):
        rows = respelt.where(~_other_case(ballots, model, respelt))
        if not rows.total:
            continue
        votes, share = rows.total, rows.total / ballots.votes[model]
        of = np.array([chains[each] for each in (rows.answer * golds + rows.gold).tolist()])
        chain = max(dict.fromkeys(of.tolist()), key=lambda name: (int(rows.votes[of == name].sum()), name))
        such = rows.where(of == chain)
        example = np.lexsort((such.answer, such.question))[0]
        answer, gold = names.answers[such.answer[example]], names.golds[such.gold[example]]
        yield ballots.check(
            "spelling", "error" if share >= SERIOUS else "warning", model, rows.questions,
            f"{quote(model)} answers {quote(answer)} where gold is {quote(gold)}: "
            f"{votes_differ(votes, share)} from gold only in spelling, and count{'s' if votes == 1 else ''} as wrong",
            f"spell answers and golds alike: `swaplaw import VOTES --canonical {chain} -o votes.parquet`",
            share,
        )  # fmt: skip


def wrong_yet_gold(ballots: Ballots) -> Iterator[Check]:
    """Wrong answers that say gold among other words: "The capital is Oslo." for Oslo, {"answer": "Oslo"}."""
    names, golds = ballots.names, ballots.rows.sizes.golds
    wrong = ballots.wrong.where(ballots.wrong.gold < golds)
    *pair, often = wrong.per(wrong.answer, wrong.sizes.answers, wrong.gold, golds)
    common = np.lexsort((pair[1], pair[0], often))[::-1][:MOST_SPELLINGS]
    options = ballots.golds if ballots.closed else set()
    said = [
        answer * golds + gold
        for answer, gold in zip(*(place[common].tolist() for place in pair), strict=True)
        if _says(names.answers[answer], names.golds[gold], options)
    ]
    for model, rows in ballots.by_model(wrong.where(np.isin(wrong.answer * golds + wrong.gold, said))):
        votes, share = rows.total, rows.total / ballots.votes[model]
        example = np.lexsort((rows.gold, rows.answer, -rows.votes))[0]
        answer, gold = names.answers[rows.answer[example]], names.golds[rows.gold[example]]
        yield ballots.check(
            "wrong_yet_gold", "warning", model, rows.questions,
            f"{quote(model)} answers {quote(answer)} where gold is {quote(gold)}: {several(votes, 'vote')} "
            f"({share:.1%}) {'has' if votes == 1 else 'have'} gold among other words, and "
            f"count{'s' if votes == 1 else ''} as wrong",
            "read answers from replies (`--read text`), or let a model judge which mean the same (`import --judge`)",
            share,
        )  # fmt: skip


def _says(answer: str, gold: str, options: Set[str]) -> bool:
    """Whether an answer says gold in words, without doubt, denial or another option, and is not gold in a spelling."""
    if len(answer) > LONGEST_REPLY or len(gold) < LONG_ENOUGH or not any(map(str.isalpha, gold)):
        return False
    if not _has(answer, gold) or _chain(answer, gold) or _FORMULA.search(answer):
        return False
    if any(told(answer) for told in (negated, hedged)) or (alternatives(answer) and not alternatives(gold)):
        return False
    return not any(option != gold and _has(answer, option) for option in options)


def _has(answer: str, gold: str) -> bool:
    """Whether a text holds another as whole words."""
    return re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", answer, re.IGNORECASE) is not None


def _other_case(ballots: Ballots, model: str, rows: Rows) -> Bools:
    """Which answers differ from gold in case alone, where both are golds and the model writes both: it means them."""
    names = ballots.names
    pairs = [(names.answers[a], names.golds[g]) for a, g in zip(rows.answer.tolist(), rows.gold.tolist(), strict=True)]
    twins = [answer in ballots.golds and answer.casefold() == gold.casefold() for answer, gold in pairs]
    if not any(twins):
        return np.zeros(len(pairs), dtype=bool)
    own = ballots.answered.where(ballots.answered.model == names.models.index(model))
    written = set(ballots.texts(own))
    return np.array([twin and gold in written for twin, (_, gold) in zip(twins, pairs, strict=True)])


def _chain(answer: str, gold: str) -> str | None:
    """The canonical forms, if any, by which an answer is gold; it is never one of several golds."""
    if alternatives(gold) and not alternatives(answer):
        return None
    # Mathematics lets letters change places, as factors may: IV is not VI, nor "no" the same as "on".
    words = not _SIGNS.search(answer + gold)
    chains = (chain for chain in CHAINS if not (words and chain == "math"))
    return next((chain for chain in chains if form(chain)(answer) == form(chain)(gold)), None)


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


def shifted(ballots: Ballots) -> Iterator[Check]:
    """Options that answers and golds number from different beginnings."""
    if how := numbered_otherwise(ballots.texts(ballots.answered), ballots.golds):
        yield ballots.check("numbered_otherwise", "error", None, ballots.questions, how, "number both alike")


def foreign(ballots: Ballots) -> Iterator[Check]:
    """Models that do not answer with options, and models that are right less often than guessing would be."""
    if not ballots.closed or gold_at_fault(ballots) or any(shifted(ballots)):
        return
    # What counts as no answer at all, and models that only spell options differently, have checks of their own.
    misspelt = {
        check.model for look in (spelling, other_notation) for check in look(ballots) if check.severity == "error"
    }
    silent, doubtful = silence(ballots.golds)
    outside = ballots.where(
        ballots.answered, lambda text: not (ballots.is_option(text) or silent(text) or doubtful(text))
    )
    flagged = {check.model for check in no_answers_as_text(ballots) if check.severity == "error"}
    strange = {model: (rows, rows.total / ballots.answers[model]) for model, rows in ballots.by_model(outside)}
    # Where another model hardly ever leaves the options, a fifth outside is no part of the task; counts may well be.
    settled = any(
        strange.get(model, (None, 0.0))[1] < SERIOUS for model in ballots.models if ballots.asked[model] >= SURE
    )
    strict = ballots.letters or (settled and not ballots.highest)
    limit = FOREIGN_LETTERS if strict else FOREIGN
    for model, (rows, share) in strange.items():
        if model not in misspelt and share >= (SERIOUS if strict else limit) and rows.questions >= FEW_FOREIGN:
            flagged.add(model)
            yield ballots.check(
                "not_an_option", "error" if share >= limit else "warning", model, rows.questions,
                f"{quote(model)} answers {quote(ballots.first(rows))} where the right answers are "
                f"{listing(sorted(ballots.golds), 3)}: {share:.0%} of its answers are none of the options",
                _LETTERS_IN_REPLIES
                if _names_letters(ballots, ballots.texts(rows))
                else "write the option's letter or label in the column `answer`, as in the column `gold`",
            )  # fmt: skip
    for model in ballots.models:
        if ballots.answers[model] and model not in flagged | misspelt:
            yield from _below_chance(ballots, model)


def _below_chance(ballots: Ballots, model: str) -> Iterator[Check]:
    """A model that is right less often than guessing would be, or that would be right under other labels."""
    chance, n = 1 / len(ballots.golds), ballots.asked[model]
    right = ballots.correct[model] / ballots.answers[model]
    far = (chance - right) / np.sqrt(chance * (1 - chance) / n)
    own = ballots.answered.of(ballots.names.models.index(model))
    # Whoever counts is often wrong by one: numbers are labels only if all of them begin elsewhere.
    counts = ballots.highest and (right > chance or not numbered_otherwise(ballots.texts(own), ballots.golds))
    labels = None if counts else relabelled(ballots, own)
    sure = labels or (far > FAR_BELOW and right < chance / 2) or (not right and (1 - chance) ** n < HARDLY)
    # Where all models are as often wrong, questions were chosen on which they are: that is no fault of their answers.
    others = [other for other in ballots.models if other != model and ballots.answers[other]]
    known = any(ballots.correct[other] > chance * ballots.answers[other] for other in others)
    if sure or far > FAR_BELOW:
        blame = f": its answers (such as {quote(ballots.first(own))}) do not mean what gold means" if sure else ""
        yield ballots.check(
            "below_chance", "error" if labels or (sure and known) else "warning", model, n,
            f"{quote(model)} is right in {right:.1%} of its answers, where guessing would be right in about "
            f"{chance:.0%}{f'; {labels}' if labels else blame}",
            "check that its answers and the column `gold` name options in the same way and the same order",
        )  # fmt: skip


def _names_letters(ballots: Ballots, texts: list[str]) -> bool:
    """Whether most of some answers are whole replies that name a letter, such as "The answer is B."."""
    from swaplaw.answers.choice import read_choice  # Here: its patterns take longer to compile than a check takes.

    known = texts[:200]
    lettered = ballots.letters and not ballots.highest
    return lettered and 2 * sum(read_choice(text, MOST_OPTIONS) is not None for text in known) > len(known)


def never_right(ballots: Ballots) -> Iterator[Check]:
    """Without options there is no chance to go by: a model that is never right beside models that often are."""
    shares = {
        model: ballots.correct[model] / ballots.answers[model] for model in ballots.models if ballots.answers[model]
    }
    best = max(shares.values(), default=0.0)
    if not ballots.rows.labelled.any():
        return
    never = [model for model, share in shares.items() if not share and ballots.asked[model] >= SURE]
    looks = (spelling, other_notation, displaced) if never else ()
    # These errors say why a model is never right.
    noted = {check.model for look in looks for check in look(ballots) if check.severity == "error"}
    if not best and shares and (len(never) == len(shares) or gold_at_fault(ballots)):
        if not noted >= set(never):
            yield _nobody_right(ballots)
    elif best >= 0.2 and not ballots.closed:
        for model in (model for model in never if model not in noted):
            its = ballots.wrong.model == ballots.names.models.index(model)
            own, others = ballots.wrong.where(its), ballots.wrong.where(~its)
            letters = all(len(option_letter(text)) == 1 for text in ballots.texts(own))
            around = _around_gold(ballots, own)
            golds = sorted(ballots.golds)
            alien = ballots.asked[model] >= MANY and unlike_gold(ballots.texts(own), golds, ballots.texts(others))
            like = ballots.first(own if around is None else around)
            where = (
                " where gold is not a letter" if letters
                else ", which has gold in it" if around is not None
                else f" where gold is such as {quote(golds[0])}" if alien
                else ""
            )  # fmt: skip
            yield ballots.check(
                "never_right", "error" if letters or alien or around else "warning", model, ballots.asked[model],
                f"{quote(model)} is never right, where others are right in up to {best:.0%} of their votes; it gives "
                f"answers such as {quote(like)}{where}",
                "write its answers in the column `answer` as gold is written"
                if alien or around
                else "check that its answers are spelt as gold is",
            )  # fmt: skip


def _around_gold(ballots: Ballots, wrong: Rows) -> Rows | None:
    """Wrong answers that say gold among other words, where a fifth do: {"answer": "Oslo"}, "The capital is Oslo."."""
    names = ballots.names

    pairs = zip(wrong.answer.tolist(), wrong.gold.tolist(), strict=True)
    found = np.array(
        [
            gold < len(names.golds)
            and len(names.golds[gold]) >= LONG_ENOUGH
            and _has(names.answers[answer], names.golds[gold])
            for answer, gold in pairs
        ]
    )
    such = wrong.where(found.astype(bool))
    return such if such.total >= FOREIGN_LETTERS * wrong.total and such.questions >= FEW_FOREIGN else None


def _nobody_right(ballots: Ballots) -> Check:
    wrong, names = ballots.wrong, ballots.names
    first = np.lexsort((wrong.answer, wrong.model, wrong.question))[0]
    answer, gold = names.answers[wrong.answer[first]], wrong.gold[first]
    expected = f", and gold such as {quote(names.golds[gold])}" if gold < wrong.sizes.golds else ""
    if gold_at_fault(ballots):
        return ballots.check(
            "never_right", "error", None, ballots.questions,
            f"gold is at fault: no vote is right, since answers are letters such as {quote(answer)}{expected}",
            "write the letter of each right option in the column `gold`",
        )  # fmt: skip
    return ballots.check(
        "never_right", "error", None, ballots.questions,
        f"no vote of any model is right: there are answers such as {quote(answer)}{expected}",
        "check that answers and the column `gold` belong to the same questions, and are spelt alike",
    )  # fmt: skip
