"""`swaplaw demo`: the whole path on the bundled real votes."""

from __future__ import annotations

import click

from swaplaw.cli import law
from swaplaw.cli._shared.evidence import doubts_on_stderr
from swaplaw.cli._shared.help import Command
from swaplaw.cli._shared.output import emit, progress_bar, say, table_options
from swaplaw.cli.votes import summary as summary_command
from swaplaw.votes.bundled import FILES

PAIRS_SHOWN = 8
NEXT = """
Next, on the same votes:
  swaplaw compare demo:{name:<13} who is better, and how sure
  swaplaw combine demo:{name:<13} every way to combine them, held out
  swaplaw labels demo:{name:<14} how few labels would have told
  swaplaw demo mmlu-pro              other votes, which say yes"""


@click.command("demo", cls=Command)
@click.argument("name", type=click.Choice(list(FILES)), default="gpqa-diamond", metavar="[NAME]")
@table_options
@doubts_on_stderr()
def command(name: str, as_json: bool) -> None:
    """Show fleet, pairs, best weight and verdict on bundled real votes.

    NAME is gpqa-diamond (the default), math500, mmlu-pro or exams. Any command takes these votes as demo:NAME, and the
    exams as plain `demo`.
    """
    from swaplaw import demo_votes, pair, recommend, summary
    from swaplaw.law import curves
    from swaplaw.law.weights import DEFAULT_WEIGHT

    tally = demo_votes(name).tally()
    fleet = summary(tally)
    found = law.pooled(tally, DEFAULT_WEIGHT)
    best = max(curves(tally), key=lambda curve: curve.best_plateau.outcome.accuracy)
    verdict = recommend(tally, progress=progress_bar("Comparing pairs"))
    if as_json:
        emit(
            {
                "models": [summary_command.as_dict(*row) for row in summary_command.with_effects(tally, fleet)],
                "weight": str(DEFAULT_WEIGHT),
                "pairs": [row.to_dict() for row in found],
                "best": law.curve_dict(best),
                "words": verdict.sentence,
                **verdict.to_dict(),
            }
        )
        return
    summary_command.show_fleet(tally, summary_command.with_effects(tally, fleet))
    title = f"The {PAIRS_SHOWN} of {len(found)} pairs with the largest lift at weight {DEFAULT_WEIGHT}"
    law.show_pairs(title, DEFAULT_WEIGHT, found, top=PAIRS_SHOWN)
    law.show_optima(pair(tally, best.primary, best.secondary), best)
    say(f"Verdict, judged on held-out questions: {verdict.sentence}")
    say(NEXT.format(name=name))
