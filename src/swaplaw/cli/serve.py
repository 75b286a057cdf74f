"""Commands that serve: a policy behind an endpoint, recorded votes played through it, and live votes compared."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from swaplaw.cli.options import GROUPS, Group, Reading, VotesGiven, command, option, switch, words
from swaplaw.cli.render import Column, answer, header, percent, say, show, text, with_bar
from swaplaw.errors import InputError, MissingExtraError, SwaplawError, listing, quote

if TYPE_CHECKING:
    from swaplaw.decide.policy import Policy
    from swaplaw.serve.drift import Monitor
    from swaplaw.serve.replay import Recorded, Replayed
    from swaplaw.serve.settings import Served
    from swaplaw.serve.stop import StopRule
    from swaplaw.serve.vote import Vote
    from swaplaw.votes.tally import Silence

LETTING_GO = 2.0
"""Seconds that a server that was there before has to let go of its address."""
LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")


@command(
    example="swaplaw serve policy.json --record votes.parquet",
    json=None,
    tables=False,
    own_display=True,
    policies=words("[POLICY...]", required=False),
    demo=switch("--demo", "Serve recorded votes of two real models; needs no policy and no network."),
    host=option("--host", "Address to listen at.", default="127.0.0.1"),
    port=option("--port", "Port to listen at.", type=click.IntRange(0, 65535), default=8080),
    key_file=option("--keys", "Key file: digests of API keys, with limits and budgets.", metavar="FILE"),
    ledger=option("--ledger", "What keys have spent of their budgets; by default beside the key file.", metavar="FILE"),
    keys_env=option("--keys-env", "Environment variable with the API keys to accept, comma-separated.", metavar="NAME"),
    names=option("--allow-host", "Also answer to this name, as a proxy passes it on.", multiple=True, metavar="NAME"),
    anonymous=switch("--anonymous", "Accept requests without a key from beyond this machine."),
    max_requests=option("--max-requests", "In flight at once.", type=click.IntRange(1), default=1000),
    max_body=option("--max-body", "Bytes of a request.", type=click.IntRange(1024), default=4 * 2**20),
    log_content=switch("--log-content", "Log questions and answers; otherwise neither is ever logged."),
    record=option("--record", "Keep all votes in this file, rotated as it grows.", metavar="FILE.parquet"),
    record_prompts=switch("--record-prompts", "Keep what was asked with the votes, too."),
    workers=option("--workers", "Processes that serve.", type=click.IntRange(1, 64), default=1),
    watch=switch("--watch", "Reload policies and keys when their files change; SIGHUP always does."),
)
def serve(
    policies: tuple[str, ...],
    demo: bool,
    host: str,
    port: int,
    key_file: str | None,
    ledger: str | None,
    policy_key_file: str | None,
    keys_env: str | None,
    names: tuple[str, ...],
    anonymous: bool,
    max_requests: int,
    max_body: int,
    log_content: bool,
    record: str | None,
    record_prompts: bool,
    workers: int,
    watch: bool,
) -> None:
    """Serve POLICY at /v1/chat/completions; any OpenAI client gets the pooled answer. TLS is a proxy's business."""
    with ExitStack() as stack:
        if workers > 1:
            # Read when the metrics are imported, so it has to be there before.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = stack.enter_context(TemporaryDirectory(prefix="swaplaw-metrics-"))
        try:
            from swaplaw.serve.demo import demo_policy, demo_script, running, scripted_app
            from swaplaw.serve.run import Setup, run, write_logs
        except ModuleNotFoundError as missing:
            if (missing.name or "").startswith("swaplaw"):
                raise
            raise MissingExtraError("serve", "serving a policy") from None
        if demo == bool(policies):
            raise InputError("give one policy file or more, or --demo")
        if keys_env and key_file:
            raise InputError("give --keys or --keys-env, not both")
        if demo and workers > 1:
            raise InputError("the demo runs in one process: leave --workers out")
        guarded = bool(keys_env or key_file)
        refuse_strangers(host, guarded, anonymous)
        setup = Setup(
            policies,
            policy_key_file,
            key_file,
            ledger,
            keys_env,
            [] if guarded or not is_local(host) else [*LOCAL_NAMES, host, *names],
            max_body,
            max_requests,
            log_content,
            record,
            record_prompts,
            watch,
            workers,
        )
        shown = [demo_policy(stack.enter_context(running(scripted_app(demo_script()))))] if demo else setup.load()[0]
        listener = stack.enter_context(listen(host, port))
        write_logs()
        greet(shown, host, listener.getsockname()[1], demo)
        run(setup, listener, shown if demo else None)


def listen(host: str, port: int) -> socket.socket:
    """Take the address before anything is promised about it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    deadline = time.monotonic() + LETTING_GO
    while True:
        try:
            return socket.create_server((host, port), family=family, backlog=2048)
        except OSError as error:
            if error.errno == errno.EADDRINUSE and time.monotonic() < deadline:
                time.sleep(0.1)
                continue
            raise SwaplawError(
                f"cannot listen at {quote(host)}, port {port}: {error.strerror}; choose another"
            ) from None


def refuse_strangers(host: str, keys: bool, anonymous: bool) -> None:
    """Beyond loopback, someone else's requests would be paid with the upstreams' keys."""
    if not is_local(host) and not keys and not anonymous:
        raise InputError(
            f"at {quote(host)} anybody who can reach it could ask: set --keys or --keys-env, or give --anonymous "
            "to allow that"
        )


def is_local(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def greet(served: Sequence[Served], host: str, port: int, demo: bool) -> None:
    """Say where it is, and in the demo what to try."""
    shown = f"[{host}]" if ":" in host else host
    base = f"http://{shown}:{port}/v1"
    for one in served:
        members = ", ".join(f"{m.samples} x {quote(m.model)} at weight {m.weight}" for m in one.members)
        click.echo(f"Serving model {quote(one.name)} at {base}: {members}", err=True)
        if one.unknown and not demo:
            click.echo(
                f"note: {quote(one.name)}: the policy does not say which {listing(one.unknown)} its votes had; served "
                "votes are as judged only if `serving` says the same",
                err=True,
            )
    if demo:
        click.echo("Recorded votes answer here, not live models. Try:", err=True)
        content = '{"model": "demo", "messages": [{"role": "user", "content": "question 17"}]}'
        click.echo(f"  curl {base}/chat/completions -H 'content-type: application/json' -d '{content}'", err=True)


PLAYED = GROUPS["votes"]
assert isinstance(PLAYED, Group)


@command(
    example="swaplaw replay votes.parquet policy.json --decisions",
    votes=Group({**PLAYED.options, "paths": words("VOTES... POLICY")}, PLAYED.make),
    rounds=option("--rounds", "An exact stop in this many rounds; repeatable.", multiple=True, type=click.IntRange(1)),
    seed=option("--seed", "Shuffle the recorded samples; otherwise they come in their own order.", type=int),
    silence=option(
        "--silence", "What null votes do; by default, as the policy says.", type=click.Choice(["counts", "ignored"])
    ),
    decisions=switch("--decisions", "Print every decision of the exact stop, too."),
)
def replay(
    votes: VotesGiven,
    rounds: tuple[int, ...],
    seed: int | None,
    silence: Silence | None,
    policy_key_file: str | None,
    decisions: bool,
) -> None:
    """Say what POLICY decides on recorded VOTES, and what stopping early saves, at each setting."""
    from swaplaw.decide.policy import is_policy
    from swaplaw.serve.replay import recorded
    from swaplaw.serve.replay import replay as played_back

    paths = votes.paths
    if len(paths) < 2:
        raise InputError("give the votes and, last, the policy file that `swaplaw recommend -o` wrote")
    if is_policy(paths[0]) and not is_policy(paths[-1]):
        paths = (*paths[1:], paths[0])  # As `drift` takes them.
    policy = read(paths[-1], policy_key_file)
    policy = policy if silence is None else replace(policy, silence=silence)
    given = replace(votes, paths=paths[:-1])
    loaded = given.votes()
    cast = recorded(loaded, policy.models, given.dataset, policy.silence)
    played = played_back(
        cast,
        policy,
        settings(rounds, policy.serving),
        seed=seed,
        progress=lambda work: with_bar(work, len(cast.right), "Replaying"),
    )

    def shown() -> None:
        header(loaded.tally(given.dataset), *policy.models)
        show_settings(played, cast, seed)
        if decisions:
            show_decisions(next(row for row in played if row.name == "exact"))

    answer(
        {
            "members": [member.to_dict() for member in policy.members],
            "fallback": [one.to_dict() for one in policy.fallback],
            "silence": policy.silence,
            "of": len(cast.right),
            "short": short(cast, played[0]),
            "settings": [{**row.to_dict(), "decisions": [one.to_dict() for one in row.decisions]} for row in played],
        },
        shown,
    )


def read(path: str, key_file: str | None) -> Policy:
    """Read a policy, with its key where one is given."""
    from swaplaw.decide.policy import policy_key, read_policy

    return read_policy(path, None if key_file is None else policy_key(key_file))


def settings(rounds: tuple[int, ...], serving: Mapping[str, Any]) -> dict[str, StopRule]:
    """The settings to compare: all samples, the exact stop, what was asked for, and what the policy says."""
    from swaplaw.serve.stop import StopRule, stop_rule

    asked = {f"exact, {number} round{'s' if number > 1 else ''}": StopRule(rounds=number) for number in rounds}
    own = {"as the policy says": stop_rule(serving)}
    return {"all samples": StopRule(exact=False), "exact": StopRule(), **asked, **own}


def short(votes: Recorded, row: Replayed) -> int:
    """Questions with fewer recorded votes than the policy draws."""
    most = tuple(max(one.planned[m] for one in row.decisions) for m in range(len(row.prices)))
    return sum(one.planned != most for one in row.decisions)


def show_settings(played: Sequence[Replayed], votes: Recorded, seed: int | None) -> None:
    """Print one row per setting."""
    columns = [
        text("Stop", "name"),
        Column("Changed", "changed", str),
        Column("Accuracy %", "accuracy", percent),
        Column("Samples", "spent", str),
        Column("Saved %", "saved", percent),
        Column("Rounds", "rounds", lambda mean: f"{float(mean):.2f}"),
        Column("p90", lambda row: str(row.rounds_at(0.9))),
        Column("Max", lambda row: str(row.rounds_at(1))),
        Column("Cost", lambda row: "–" if row.cost is None else f"{row.cost:.4g}"),
    ]
    n = len(played[0].decisions)
    order = "in recorded order" if seed is None else f"shuffled by seed {seed}"
    note = (
        "Changed: decisions that differ from the vote of all samples; an exact stop changes none. "
        "Rounds: how often a question waits for its slowest sample: mean, 90th percentile and most."
    )
    show(f"{n} of {len(votes.right)} questions, samples {order}", columns, played, note)


def show_decisions(row: Replayed) -> None:
    """Print every decision."""
    columns = [
        text("Question", "question"),
        text("Winner", lambda one: _word(one.winner)),
        text("Tied with", lambda one: ", ".join(map(_word, one.ties[1:]))),
        Column("Samples", lambda one: str(sum(one.spent))),
        Column("Rounds", "rounds", str),
    ]
    show("Decisions", columns, row.decisions)


def _word(answer: str | None) -> str:
    return "(null)" if answer is None else answer


@command(
    example="swaplaw drift policy.json live.parquet",
    policy=words("POLICY", nargs=1),
    live=words("LIVE_VOTES..."),
    calibration=option(
        "--calibration", "Votes to expect, where the policy carries none.", multiple=True, metavar="VOTES"
    ),
    dataset=option("--dataset", "Take this dataset of the calibration votes.", metavar="NAME"),
    fail_on_alarm=switch("--fail-on-alarm", "Exit with status 3 when the alarm rings."),
)
def drift(
    policy: str,
    live: tuple[str, ...],
    calibration: tuple[str, ...],
    dataset: str | None,
    seed: int,
    policy_key_file: str | None,
    fail_on_alarm: bool,
    reading: Reading,
) -> None:
    """Compare LIVE_VOTES, recorded by `serve --record`, with what the votes behind POLICY imply. No labels needed."""
    from swaplaw.decide.policy import is_policy
    from swaplaw.serve.drift import Monitor, calibration_of, live_questions
    from swaplaw.serve.replay import recorded

    if is_policy(live[-1]) and not is_policy(policy):
        policy, live = live[-1], (policy, *live[:-1])  # As `replay` takes them.
    chosen = read(policy, policy_key_file)
    expected: Sequence[Sequence[Sequence[Vote]]] | None = calibration_of(chosen)
    if calibration:
        models = [member.model for member in chosen.members]
        votes = recorded(reading.load(calibration), models, dataset, chosen.silence)
        expected = list(votes.by_question(models).values())
    if not expected:
        raise InputError(
            f"{quote(policy, 200)}: the policy carries no votes to compare with: give those it was judged on with "
            "--calibration, or recommend again"
        )
    monitor = Monitor(chosen, expected, seed)
    for votes_of_question in live_questions(chosen, live, seed):
        monitor.observe(votes_of_question)
    answer(monitor.to_dict(), lambda: show_monitor(monitor))
    if fail_on_alarm and monitor.alarm:
        raise SystemExit(3)


def show_monitor(monitor: Monitor) -> None:
    """Print one row per member and measure, and the verdict."""
    document = monitor.to_dict()
    rows = [
        {"member": member["model"], "measure": name, **found}
        for member in document["members"]
        for name, found in member.items()
        if name != "model"
    ]
    columns = [
        text("Member", "member"),
        text("Measure", "measure"),
        Column("Expected", "expected", _share),
        Column("Live", "observed", _share),
        Column("p", "p", lambda p: f"{p:.3g}"),
    ]
    note = "p is valid at every look: without drift it ever falls to 0.05 in at most 5% of streams."
    show(f"{document['questions']} live questions", columns, rows, note)
    if monitor.alarm:
        say(f"ALARM at question {monitor.alarmed_at}: live votes differ from those the policy was judged on.")
    else:
        say("No alarm.")


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
