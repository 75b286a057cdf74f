"""How a number, a verdict, a warning is worded: once, for the terminal, the page and the sentences of JSON documents.

A pair gains or loses, it never gains a negative number; numbers have as many digits as their intervals deserve; plurals
agree; and the sentence of a verdict quotes the numbers of the very test that decided.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from swaplaw._result import points, share
from swaplaw.decide.recommend import Readings, Reason, Recommendation
from swaplaw.errors import listing, printable, quote, several
from swaplaw.evidence.interval import thin_note

if TYPE_CHECKING:
    from swaplaw.decide.combine import Combination
    from swaplaw.decide.compare import Comparisons
    from swaplaw.decide.crossfit import Choice
    from swaplaw.decide.front import Front, Point
    from swaplaw.decide.policy import Policy
    from swaplaw.evidence.interval import Effect
    from swaplaw.law.pair import Pairs
    from swaplaw.votes.checks import Check
    from swaplaw.votes.summary import Summary


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


def named(found: Recommendation, choice: Choice) -> str:
    """An ensemble: its primary, and the others with their weights."""
    weighted = zip(choice.weights, found.names(choice), strict=True)
    return " + ".join(name if weight == 1 else f"{weight} {name}" for weight, name in weighted)


def calls(number: float) -> str:
    """How many calls a question takes.

    >>> calls(1.0), calls(30.0), calls(34.52)
    ('1 call', '30 calls', '34.5 calls')
    """
    shown = f"{round(number, 1):g}" if number < 1000 else f"{number:,.0f}"
    return f"{shown} {'call' if number == 1 else 'calls'}"


def sentence(found: Recommendation) -> str:
    """What to deploy now, what that costs, and what is proven, with the numbers that decided it."""
    if found.reason == "checks":
        return proof(found)
    first = "" if found.notation is None else f"{notation(found.notation)} "
    return f"{first}{_now(found)} {proof(found)}"


def notation(readings: Readings) -> str:
    """How many votes are wrong only by their notation, and what that changes."""
    model, most = next(iter(readings.read.shares.items()))
    example = readings.read.disputes[0]
    first = (
        f"Notation: up to {share(most, 1)}% of a model's votes ({model}) count as wrong as they are spelt and are gold "
        f"as they are meant, such as {quote(example.answer, 40)} for {quote(example.gold, 40)} (`swaplaw checks "
        "--disputes notation` lists all)"
    )
    if readings.meant is None:
        return f"{first}; too few to change who is best or the verdict."
    told = readings.meant if readings.decided == "spelt" else readings.spelt
    other = f"{told['single']['model']} would be the best single model"
    same = "the same best model and verdict" if readings.agree else other
    also = f"{same}: {share(told['single']['accuracy'], 1)}%, and a panel {gains_alone(told['gain']['mean'], 1)}"
    if readings.decided == "spelt":
        return f"{first}. Read as they are meant (`--canonical same` pools most of them), {also}."
    return f"{first}. What follows is decided as they are meant. As they are spelt, {also}."


def proof(found: Recommendation) -> str:
    """What is proven of an ensemble, with the numbers of the test."""
    return _PROOFS[found.reason](found)


def _single(found: Recommendation) -> str:
    return found.names(found.baseline)[0]


def _now(found: Recommendation) -> str:
    """What to deploy today, how many calls an answer costs, and what to expect."""
    point, whole = found.now.point, found.judge.point(None)
    per = f"{_cost(found, point)} per question"
    if not found.now.deploys_more:
        one = found.single
        few = f" (one call: {share(one['one_call']['accuracy'], 1)}%)" if point.calls > 1 else ""
        accuracy = f"{share(one['accuracy'], 1)}% of these questions"
        return f"Deploy {point.models[0]} alone: {per}, {accuracy}{few}."
    gain, single = found.now.gain, found.now.single
    made, alone = (share(each, 1) for each in (found.replayed, found.single["accuracy"]))
    word = "loss" if gain.mean < 0 else "gain"
    return (
        f"Deploy {asked(found)}: {per}, where {_single(found)} alone takes {_cost(found, whole)}. It is expected to be "
        f"right on {beside(single, gain.mean)}% of new questions, and the best single model on {share(single, 1)}%: a "
        f"{word} of {amount(gain.mean, 1)}, {likely(gain.above(0))} to be above 0 (on the questions that chose both: "
        f"{made}%, and {_single(found)} {alone}%)."
    )


def beside(single: float, gain: float) -> str:
    """An accuracy in percent beside that of a single model, so that what is shown adds up.

    >>> beside(0.7274, 0.0144)
    '74.1'
    """
    return share(round(single, 3) + round(gain, 3), 1)


def asked(found: Recommendation) -> str:
    """Who is asked by what is deployed now, with what weight and how often."""
    point = found.now.point
    fewer = "" if point.plan.samples is None else f", {several(point.plan.samples, 'sample')} of each"
    rest = f", then {_listed(point.models[point.size :])} where no answer stands" if point.plan.choice.fallback else ""
    return f"{named(found, point.plan.choice)}{fewer}{rest}"


def _cost(found: Recommendation, point: Point) -> str:
    return calls(point.calls) if point.cost is None else f"{calls(point.calls)} at {point.cost:.3g}"


def point_words(point: Point) -> str:
    """Who is asked at an operating point, how often and when, in one line.

    The members are named after the one that is asked first: tables would be too wide with all of them.
    """
    first, others = point.models[0], point.size - 1
    if not others:
        asked = f"{first}, {calls(point.samples[0])}"
    else:
        second = point.models[1] if others == 1 else f"{others} others"
        asked = f"{first} + {second}" + ("" if point.plan.samples is None else f", {calls(point.plan.samples)} each")
    if point.ask_next_if is not None:
        asked += f" only if it {_lead(point)}"
    return asked + ("; then the rest in turn" if point.plan.choice.fallback else "")


def _lead(point: Point) -> str:
    few = {"silent": "is silent", "tied": "is silent or tied"}
    return few.get(str(point.ask_next_if), f"leads by at most {point.plan.lead} of its votes")


def _listed(models: tuple[str, ...]) -> str:
    return (
        models[0] if len(models) == 1 else f"{models[0]} and {several(len(models) - 1, 'other')} in order of accuracy"
    )


def _tested(found: Recommendation) -> str:
    """What the test found of the candidate, which is named wherever it is not what is deployed."""
    held, ensemble = found.held_out, f"the {found.kind}"
    if found.now.point.plan.choice != found.choice:
        ensemble += f" {named(found, found.choice)} ({calls(found.ensemble.calls)} per question)"
    verdict = f"does no better than {_single(found)}" if held.mean <= 0 else gains_alone(held.mean, held.places)
    return (
        f"on questions that had no part in the choice, {ensemble} {verdict} ({interval(held)}, "
        f"{p_words(held.p)}, one-sided)"
    )


def _gain(found: Recommendation) -> str:
    return f"Proven: {_tested(found)}."


def _too_little(found: Recommendation) -> str:
    worth = f"less than the {amount(found.min_gain)} that would be worth it" if found.min_gain else "no gain at all"
    return f"No ensemble is worth it: {_tested(found)}, surely {worth}."


def _unsure(found: Recommendation) -> str:
    if found.held_out.p <= 1 - found.held_out.level and found.held_out.mean < found.min_gain:
        return f"A gain of {amount(found.min_gain)} is not proven: {_tested(found)}."
    return f"Nothing is proven yet: {_tested(found)}; {how_many(found)}."


def how_many(found: Recommendation) -> str:
    """How many questions would tell: one central number, or that these votes cannot say."""
    more = found.more
    if more is None or more.questions is None:
        return "how many questions would tell, these votes cannot say"
    have, units = found.held_out.n, found.held_out.units
    clusters = f" (in about {about(-(-more.questions * units // have))} clusters)" if units < have else ""
    return f"about {about(more.questions)} questions{clusters} would tell, and there are {have:,}"


def _always_right(found: Recommendation) -> str:
    right = f"{_single(found)} is right on every question"
    if found.verdict == "deploy_single":
        return f"{right}, so there is nothing to gain."
    return f"{right}, but {several(len(found.tally.questions), 'question')} cannot tell whether it always is."


def _no_change(found: Recommendation) -> str:
    return f"All others vote exactly as {_single(found)} does, and copies cannot change a vote."


def _alone(found: Recommendation) -> str:
    many = len(found.tally.models)
    if many == 1:
        return "There is no other model."
    return f"It is the best of {many} models, and no ensemble was compared, as asked."


def _checks(found: Recommendation) -> str:
    first, *others = found.errors
    more = f" (and {several(len(others), 'more error')})" if others else ""
    return (
        f"No verdict, because these votes do not mean what they seem to: {first.message}{more}. To fix this: "
        f"{first.fix}. Until then deploy nothing on the strength of these votes."
    )


_PROOFS: dict[Reason, Callable[[Recommendation], str]] = {
    "gain": _gain,
    "too_little": _too_little,
    "unsure": _unsure,
    "always_right": _always_right,
    "no_change": _no_change,
    "alone": _alone,
    "checks": _checks,
}


def notes(found: Recommendation) -> list[str]:
    """What a careful reader should know besides."""
    lines = []
    if len(found.tally.questions) < len(found.votes.questions):
        lines.append(
            f"{len(found.tally.questions):,} of {several(len(found.votes.questions), 'question')} count: those that "
            f"{'both' if len(found.tally.models) == 2 else f'all {len(found.tally.models)}'} models answered."
        )
    copies = [check.model or "" for check in found.checks if check.name == "duplicate_model"]
    if copies and found.reason != "no_change":
        votes = "it votes" if len(copies) == 1 else "they vote"
        lines.append(f"Left out, because {votes} exactly as another model does: {listing(copies)}.")
    if found.now.point.plan.choice.silence == "ignored" and found.silent:
        lines.append(
            "Null votes are left out of the vote, but for refusals: a model that is silent half the time speaks with "
            "half a voice."
        )
    if note := thin_note([found.held_out]):
        lines.append(f"{note[0].upper()}{note[1:]}.")
    return lines


def _front(found: Front) -> str:
    cheap, best = found.best[0], found.best[-1]
    return (
        f"{found.dataset}: with {point_words(cheap)}, {share(cheap.accuracy)}% right; the most that calls buy is "
        f"{share(best.accuracy)}%, at {calls(best.calls)} per question."
    )


def _comparisons(found: Comparisons) -> str:
    most, every = found.comparisons[0], several(len(found.comparisons), "pair")
    sure = sum(each.significant for each in found.comparisons)
    return (
        f"{found.dataset}: {sure} of {every} of models {'differs' if sure == 1 else 'differ'} significantly. The most "
        f"that one beats another by is {amount(most.difference, most.effect.places)} ({interval(most.effect)}): "
        f"{most.first} over {most.second}."
    )


def _combination(found: Combination) -> str:
    best = found.rules[0]
    return (
        f"{found.tally.dataset}: of {several(len(found.rules), 'rule')}, {best.rule.name} does best on held-out "
        f"questions: it {gains(best.gain)} over {found.baseline}, the best single model."
    )


def _summary(found: Summary) -> str:
    best = found[0]
    one = "" if best.votes == best.questions else f", {share(best.single)}% by a single sample"
    return (
        f"{best.dataset}: of {several(len(found), 'model')}, {best.model} is the most accurate: "
        f"{share(best.plurality)}% right{one}."
    )


def _pairs(found: Pairs) -> str:
    counted = f"{found[0].tally.dataset}: {several(len(found), 'pair')} of models"
    if found.weight is None:
        return f"{counted} on {several(found[0].of, 'question')}."
    best, outcome = max(zip(found, found.outcomes, strict=True), key=lambda both: both[1].lift)
    return (
        f"{counted}; at weight {found.weight}, {best.primary} with {best.secondary} "
        f"{gains_alone(float(outcome.lift), 2)} in-sample, the most of all."
    )


def _policy(found: Policy) -> str:
    voters = " + ".join(one.model if one.weight == 1 else f"{one.weight} {one.model}" for one in found.members)
    rest = f", then {listing([one.model for one in found.fallback])} where no answer stands" if found.fallback else ""
    return f"{voters}: {calls(sum(one.samples for one in found.members))} per question{rest}."


SENTENCES: dict[str, Callable[[Any], str]] = {
    "Combination": _combination,
    "Comparisons": _comparisons,
    "Front": _front,
    "Pairs": _pairs,
    "Policy": _policy,
    "Recommendation": sentence,
    "Summary": _summary,
}
"""What results say of themselves, by the name of their class."""


def check_line(check: Check, prefix: bool = True) -> str:
    """A check in one line: what is wrong, and how to fix it."""
    return printable(f"{check.severity + ': ' if prefix else ''}{check.message}; {check.fix}")
