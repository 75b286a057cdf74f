"""How a number, a verdict, a warning is worded: once, for the terminal, the page and the sentences of JSON documents.

A pair gains or loses, it never gains a negative number; numbers have as many digits as their intervals deserve; plurals
agree; and the sentence of a verdict quotes the numbers of the very test that decided.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from swaplaw._core.rounding import points, share
from swaplaw.decide.verdict import DEPLOYS_ENSEMBLE, More, Reason, Recommendation
from swaplaw.errors import listing, printable, several
from swaplaw.evidence.interval import thin_note

if TYPE_CHECKING:
    from swaplaw.decide.choice import Choice
    from swaplaw.evidence.interval import Effect
    from swaplaw.votes.checks import Check

RULES = {
    "equal": "equal weights",
    "smooth": "smooth weights",
    "lead": "equal weights, best leads",
    "log_odds": "log-odds weights",
    "lift": "best pair by exact lift",
    "swap": "best pair by S* (the paper)",
}
"""What rules are called."""
_SIZED = {"smooth": "smooth weights, {} models", "lead": "best {}, best leads"}


FEW_UNITS = 10
"""With fewer questions (or clusters) than this, the spread is too uncertain to plan by."""
WIDE = 100
"""A range of questions whose ends differ by more than this factor has no useful upper end."""


def rule_words(rule: str) -> str:
    """What a rule is called.

    >>> rule_words("log_odds"), rule_words("smooth_2"), rule_words("lead_3")
    ('log-odds weights', 'smooth weights, 2 models', 'best 3, best leads')
    """
    kind, _, size = rule.rpartition("_")
    return _SIZED[kind].format(size) if kind in _SIZED and size.isdigit() else RULES.get(rule, rule)


def p_value(p: float) -> str:
    """A p-value as a table shows it.

    >>> p_value(-0.0), p_value(0.0123), p_value(0.00001)
    ('0.000', '0.012', '<0.001')
    """
    return "<0.001" if 0 < p < 0.0005 else f"{abs(p):.3f}"


def p_words(p: float) -> str:
    """A p-value as a sentence says it.

    >>> p_words(0.0123), p_words(0.00001)
    ('p = 0.012', 'p < 0.001')
    """
    shown = p_value(p)
    return f"p < {shown[1:]}" if shown.startswith("<") else f"p = {shown}"


def amount(gain: float, places: int | None = None) -> str:
    """A size in points, without a sign.

    >>> amount(0.01), amount(-0.005, 1), amount(0.02)
    ('1 point', '0.5 points', '2 points')
    """
    text = f"{100 * abs(gain):g}" if places is None else share(abs(gain), places)
    return f"{text} {'point' if float(text) == 1 else 'points'}"


def interval(effect: Effect) -> str:
    """An interval in points."""
    low, high = points(effect.low, effect.places), points(effect.high, effect.places)
    return f"{100 * effect.level:.0f}% interval {low} to {high}"


def gains(effect: Effect) -> str:
    """What an ensemble does: it gains or loses so much, with the interval."""
    return f"{gains_alone(effect.mean, effect.places)} ({interval(effect)})"


def gains_alone(gain: float, places: int) -> str:
    """What an ensemble does, without an interval.

    >>> gains_alone(0.012, 1), gains_alone(-0.0051, 2), gains_alone(0.0001, 1)
    ('gains 1.2 points', 'loses 0.51 points', 'gains 0.0 points')
    """
    verb = "loses" if points(gain, places).startswith("-") else "gains"
    return f"{verb} {amount(gain, places)}"


def gain_words(gain: float, places: int) -> str:
    """A gain with its sign, in points.

    >>> gain_words(0.012, 1), gain_words(-0.01, 0), gain_words(0.0, 1)
    ('+1.2 points', '-1 point', '0.0 points')
    """
    shown = points(gain, places)
    return f"{shown} {'point' if abs(float(shown)) == 1 else 'points'}"


def likely(chance: float) -> str:
    """How likely something is; nothing is certain.

    >>> likely(0.62), likely(0.9999), likely(0.0001)
    ('62% likely', 'more than 99% likely', 'less than 1% likely')
    """
    if chance > 0.995:
        return "more than 99% likely"
    return "less than 1% likely" if chance < 0.005 else f"{chance:.0%} likely"


def about(number: int) -> str:
    """Two significant digits: the standard error that such numbers are made of knows no more.

    >>> about(7_061), about(94)
    ('7,100', '94')
    """
    return f"{round(number, 2 - len(str(number))):,}"


def how_many(more: More) -> str:
    """How many questions would tell, as a range."""
    low, high = more.range
    if more.effect.units < FEW_UNITS:
        unit, start = ("question", "hundred") if more.effect.units == more.effect.n else ("cluster", "dozen")
        return f"{several(more.effect.units, unit)} cannot say how many would tell: start with a few {start} {unit}s"
    if low is None:
        return "no practical number of questions would tell"
    if low == 0 and _wide(low, high):
        return "more questions would tell, but nobody can say how many"
    clusters = ""
    if more.effect.units < more.effect.n:
        each = more.effect.units / more.effect.n
        clusters = f" ({_span(*(None if end is None else -(-end * each // 1) for end in (low, high)))} more clusters)"
    return f"{_span(low, high)} more questions{clusters} would tell"


def _span(low: float | None, high: float | None) -> str:
    first = about(int(low or 0))
    if high is None or _wide(low, high):
        return f"at least about {first}"
    last = about(int(high))
    if not low:
        return f"up to about {last}"
    return f"about {first}" if first == last else f"about {first} to {last}"


def _wide(low: float | None, high: float | None) -> bool:
    return high is None or high > WIDE * max(1, low or 0)


def named(found: Recommendation, choice: Choice) -> str:
    """An ensemble: its primary, and the others with their weights."""
    primary, *secondaries = found.names(choice)
    weighted = zip(choice.weights[1:], secondaries, strict=True)
    return " + ".join([primary, *(name if weight == 1 else f"{weight} {name}" for weight, name in weighted)])


def sentence(found: Recommendation) -> str:
    """The verdict in words, with the numbers that decided it, and what to deploy."""
    told = _SENTENCES[found.reason](found)
    if found.at_equal_cost and found.equal_compute is None and found.reason in ("unsure", "one_rule", "maybe_noise"):
        told += f" At equal cost no number of questions would tell, because {_unsplit(found)}."
    return told


def _single(found: Recommendation) -> str:
    return found.names(found.baseline)[0]


def _gain(found: Recommendation) -> str:
    held, single = _held_out(found), _single(found)
    return (
        f"Deploy {named(found, found.choice)}: on questions that had no part in the choice, this {found.kind} "
        f"{gains(held)} over {single}, the best single model ({p_words(held.p)}, one-sided); {_at_equal_cost(found)}."
    )


def _at_equal_cost(found: Recommendation) -> str:
    """What the best ensemble does at the single model's cost, or why nobody knows."""
    if found.equal_compute is None:
        return f"its gain at the cost of {_single(found)} is unknown, because {_unsplit(found)}"
    return f"at the cost of {_single(found)} it {gains(found.equal_compute)}"


def _unsplit(found: Recommendation) -> str:
    """Why an ensemble cannot be scaled down to the single model's cost."""
    single = _single(found)
    if found.scorer.priced:
        return f"what {single} costs does not buy a vote of every model"
    most = int(found.tally.votes[found.baseline.members[0]].max())
    where = "" if most < len(found.choice.members) else " on some questions"
    return f"{single} has too few votes to split{where}"


def _worth(found: Recommendation) -> str:
    """What a gain falls short of; nobody falls short of 0 points."""
    return f", not the {amount(found.min_gain)} that would be worth it" if found.min_gain else ""


def _too_little(found: Recommendation) -> str:
    held = _held_out(found)
    enough = f"the {amount(found.min_gain)} that would be worth it" if found.min_gain else "anything"
    return (
        f"Deploy {_single(found)} alone: no ensemble gains {enough} "
        f"(one-sided test at 5%); on questions that had no part in the choice, the best {found.kind} {gains(held)}."
    )


def _too_little_at_equal_cost(found: Recommendation) -> str:
    equal = found.equal_compute or _held_out(found)
    return f"Deploy {_single(found)} alone: at its cost the best {found.kind} {gains(equal)}{_worth(found)}."


def _noise(found: Recommendation) -> str:
    return (
        f"Deploy {_single(found)} alone: the best {found.kind} {gains(_held_out(found))} over it, but so would "
        f"secondaries that know nothing; over these it {gains(_over_placebo(found))}{_worth(found)}."
    )


def _maybe_noise(found: Recommendation) -> str:
    reach = "" if found.more is None else f"; {how_many(found.more)}"
    return (
        f"These votes cannot tell whether an ensemble beats {_single(found)}, the best single model, by what it knows: "
        f"the best {found.kind} {gains(_held_out(found))}, but over secondaries that know nothing it "
        f"{gains(_over_placebo(found))}{reach}. {_meanwhile(found)}"
    )


def _over_placebo(found: Recommendation) -> Effect:
    return found.placebo or _held_out(found)


def _no_change(found: Recommendation) -> str:
    copies = [check.model or "" for check in found.checks if check.name == "duplicate_model"]
    named = " and ".join(copies) if len(copies) < 3 else f"the {len(copies)} others"
    verb, which = ("votes", "it") if len(copies) == 1 else ("vote", "they")
    single = _single(found)
    return f"Deploy {single} alone: {named} {verb} exactly as {single} does, so {which} cannot change a vote."


def _alone(found: Recommendation) -> str:
    why = "it is the only model" if len(found.tally.models) == 1 else "it is the most accurate of the single models"
    nothing = "there was nothing else to compare"
    if found.scorer.budget is not None and len(found.tally.models) > 1 and found.max_models != 1:
        nothing = f"a budget of {found.scorer.budget:g} buys no second model"
    return f"Deploy {_single(found)} alone: {why}, and {nothing}."


def _always_right(found: Recommendation) -> str:
    if found.verdict == "cannot_tell":
        return (
            f"These votes cannot tell whether an ensemble would help {_single(found)}: it is right on all "
            f"{several(len(found.tally.questions), 'question')}, so no ensemble can gain on them, and they are too few "
            f"to say much about others. Until there are more, deploy {_single(found)} alone."
        )
    return (
        f"Deploy {_single(found)} alone: it is right on all {several(len(found.tally.questions), 'question')}, so no "
        "ensemble can gain on them. Only harder questions could tell whether one ever would."
    )


def _not_askable(found: Recommendation) -> str:
    single = _single(found)
    others = [name for name in found.tally.models if name != single]
    named = " and ".join(others) if len(others) < 3 else f"one of the {len(others)} others"
    return (
        f"These votes cannot tell whether {named} would help {single}, the best single model: {_unanimous(found)}, so "
        f"no pair can gain, by construction. {_to_gain(found)}. Until then deploy {single} alone: nothing here speaks "
        "for an ensemble."
    )


def _unanimous(found: Recommendation) -> str:
    """Why the votes of two models cannot change each other."""
    if not found.scorer.one_vote_each:
        return "each always gives the same answer to a question, and of two such models the heavier always wins"
    few = "each has one vote per question"
    if found.tally.votes.max() > 1:
        few = f"a budget of {found.scorer.budget:g} buys one vote of each"
    return f"{few}, and of two such votes the heavier always wins"


def _to_gain(found: Recommendation) -> str:
    """What would make votes count that cannot change each other."""
    few = len(found.tally.models) == 2
    buys = ["several votes of each"] * bool(found.tally.votes.max() > 1) + ["three models"] * (not few)
    if found.scorer.budget is not None and found.max_models != 2 and buys:
        return f"Raise the budget until it buys {' or '.join(buys)}"
    three = "add a third model" if few else "compare three models or more together"
    return f"Collect several samples per model and question, or {three}"


def _checks(found: Recommendation) -> str:
    first, *others = found.errors
    more = f" (and {several(len(others), 'more error')})" if others else ""
    return (
        f"No verdict, because these votes do not mean what they seem to: {first.message}{more}. To fix this: "
        f"{first.fix}. Until then deploy nothing on the strength of these votes."
    )


def _one_rule(found: Recommendation) -> str:
    held, single = _held_out(found), _single(found)
    asked = [each for each in found.candidates if not each.poor]
    few = sum(each.gains for each in asked)
    return (
        f"These votes cannot tell whether an ensemble beats {single}, the best single model: on questions that had no "
        f"part in the choice, the best {found.kind} {gains(held)}, but only {few} of {several(len(asked), 'rule')} "
        f"that are not clearly worse {'gains' if few == 1 else 'gain'} more than a standard error, which luck alone "
        f"could explain. More questions would tell. {_meanwhile(found)}"
    )


def _unsure(found: Recommendation) -> str:
    held, single = _held_out(found), _single(found)
    reach = "" if found.more is None else f"; {how_many(found.more)}"
    other = found.still_open
    if other is not None and other is not found.best:
        reach = (
            f", too little to be worth it, but the gain of another ({rule_words(other.rule)}) is less sure: it "
            f"{gains(other.effect)}{reach}"
        )
    return (
        f"These votes cannot tell whether an ensemble beats {single}, the best single model: on questions that had no "
        f"part in the choice, the best {found.kind} {gains(held)}{reach}. {_meanwhile(found)}"
    )


def _unsure_at_equal_cost(found: Recommendation) -> str:
    held, single = _held_out(found), _single(found)
    reach = "" if found.more is None else f"; {how_many(found.more)}"
    return (
        f"These votes cannot tell whether an ensemble beats {single}, the best single model, at equal cost: the best "
        f"{found.kind} {gains(held)}, but {_at_equal_cost(found)}{reach}. {_meanwhile(found)}"
    )


def _meanwhile(found: Recommendation) -> str:
    """What to deploy until votes can tell, and why."""
    single, believed, held = _single(found), found.belief, _held_out(found)
    if believed is None:
        return f"Until then deploy {single} alone."
    helps, gain = likely(believed.above(0)), _infinitive(believed.mean, held.places)
    cost = costs(found.cost(found.choice) / (found.cost(found.baseline) or 1))
    if gain.startswith("lose"):
        return f"Until then deploy {single} alone: an ensemble is {helps} to help, is expected to {gain}, and {cost}."
    return (
        f"Until then deploy {single} alone: an ensemble is {helps} to help, and is expected to {gain}, but {cost} and "
        f"is not proven{_OPEN.get(found.reason, '')}."
    )


_OPEN: dict[Reason, str] = {"unsure_at_equal_cost": " at equal cost", "maybe_noise": " to know more than noise does"}
"""What is not proven, where more is proven than usual."""


def costs(ratio: float) -> str:
    """What an ensemble costs, compared with the single model.

    >>> costs(2.07), costs(2.0), costs(1.0)
    ('costs 2.1 times as much', 'costs twice as much', 'costs as much')
    """
    if ratio <= 1.05:
        return "costs as much" if ratio > 0.95 else "costs less"
    times = f"{ratio:.0f}" if ratio >= 10 else f"{round(ratio, 1):g}"
    return "costs twice as much" if times == "2" else f"costs {times} times as much"


def _infinitive(gain: float, places: int) -> str:
    return gains_alone(gain, places).replace("gains", "gain").replace("loses", "lose")


def _held_out(found: Recommendation) -> Effect:
    if found.held_out is None:
        raise ValueError("there is no candidate to speak of")
    return found.held_out


_SENTENCES: dict[Reason, Callable[[Recommendation], str]] = {
    "gain": _gain,
    "too_little": _too_little,
    "too_little_at_equal_cost": _too_little_at_equal_cost,
    "noise": _noise,
    "maybe_noise": _maybe_noise,
    "no_change": _no_change,
    "alone": _alone,
    "always_right": _always_right,
    "not_askable": _not_askable,
    "checks": _checks,
    "unsure": _unsure,
    "one_rule": _one_rule,
    "unsure_at_equal_cost": _unsure_at_equal_cost,
}


def notes(found: Recommendation) -> list[str]:
    """What a careful reader should know besides."""
    lines = []
    if len(found.tally.questions) < len(found.votes.questions):
        lines.append(
            f"{len(found.tally.questions):,} of {several(len(found.votes.questions), 'question')} count: those that "
            f"{'both' if len(found.tally.models) == 2 else f'all {len(found.tally.models)}'} models answered."
        )
    if found.max_models is not None and found.max_models > max(2, len(found.tally.models)):
        lines.append(f"At most {found.max_models} models were asked for; there are {len(found.tally.models)}.")
    copies = [check.model or "" for check in found.checks if check.name == "duplicate_model"]
    if copies and found.reason != "no_change":
        votes = "it votes" if len(copies) == 1 else "they vote"
        lines.append(f"Left out, because {votes} exactly as another model does: {listing(copies)}.")
    if found.selection.panels:
        lines.append(
            f"{several(found.selection.panels, 'panel')} of three or more compared in full "
            f"({several(found.selection.panel_candidates, 'different vote')}): led by their best member, "
            "with the secondaries counting the same or one of them double, at any total weight. `swaplaw panel` proves "
            "the best weights of one."
        )
    if note := thin_note([found.held_out]):
        lines.append(f"{note[0].upper()}{note[1:]}.")
    if found.best is not None and found.best.members > 1 and found.equal_compute is None:
        lines.append(
            f"Equal compute cannot be judged, because {_unsplit(found)}. More samples of {_single(found)} alone might "
            "do as well."
        )
    return lines


def check_line(check: Check, prefix: bool = True) -> str:
    """A check in one line: what is wrong, and how to fix it."""
    return printable(f"{check.severity + ': ' if prefix else ''}{check.message}; {check.fix}")


def deploys(found: Recommendation) -> bool:
    """Whether an ensemble is to be deployed."""
    return found.verdict in DEPLOYS_ENSEMBLE
