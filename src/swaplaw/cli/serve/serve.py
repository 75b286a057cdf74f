"""`swaplaw serve`: a policy behind an OpenAI-compatible endpoint."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Sequence
from contextlib import ExitStack
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from swaplaw.cli._shared.help import Command
from swaplaw.errors import InputError, MissingExtraError, SwaplawError, listing, quote

if TYPE_CHECKING:
    from swaplaw.serve.settings import Served

LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")


@click.command("serve", cls=Command, own_display=True)
@click.argument("policies", nargs=-1, metavar="[POLICY...]")
@click.option("--demo", is_flag=True, help="Serve recorded votes of two real models; needs no policy and no network.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen at.")
@click.option("--port", type=click.IntRange(0, 65535), default=8080, show_default=True)
@click.option("--keys-env", metavar="NAME", help="Environment variable with the API keys to accept, comma-separated.")
@click.option(
    "--allow-host", "names", multiple=True, metavar="NAME", help="Also answer to this name, as a proxy passes it on."
)
@click.option("--anonymous", is_flag=True, help="Accept requests without a key from beyond this machine.")
@click.option("--max-requests", type=click.IntRange(1), default=1000, show_default=True, help="In flight at once.")
@click.option("--max-body", type=click.IntRange(1024), default=4 * 2**20, show_default=True, help="Bytes of a request.")
@click.option("--log-content", is_flag=True, help="Log questions and answers; otherwise neither is ever logged.")
@click.option("--keys", "key_file", metavar="FILE", help="Key file: digests of API keys, with limits and budgets.")
@click.option("--ledger", metavar="FILE", help="What keys have spent of their budgets; by default beside the key file.")
@click.option("--record", metavar="FILE.parquet", help="Keep all votes in this file, rotated as it grows.")
@click.option("--record-prompts", is_flag=True, help="Keep what was asked with the votes, too.")
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes that serve.")
@click.option("--watch", is_flag=True, help="Reload policies when their files change; SIGHUP always does.")
def command(
    policies: tuple[str, ...],
    demo: bool,
    host: str,
    port: int,
    keys_env: str | None,
    names: tuple[str, ...],
    anonymous: bool,
    max_requests: int,
    max_body: int,
    log_content: bool,
    key_file: str | None,
    ledger: str | None,
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
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise SwaplawError(f"cannot listen at {quote(host)}, port {port}: {error.strerror}; choose another") from None


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
        if one.unsigned and not demo:
            click.echo(
                f"note: {quote(one.name)}: the policy does not say which {listing(one.unsigned)} its votes had; served "
                "votes are as judged only if `serving` says the same",
                err=True,
            )
    if demo:
        click.echo("Recorded votes answer here, not live models. Try:", err=True)
        content = '{"model": "demo", "messages": [{"role": "user", "content": "question 17"}]}'
        click.echo(f"  curl {base}/chat/completions -H 'content-type: application/json' -d '{content}'", err=True)
