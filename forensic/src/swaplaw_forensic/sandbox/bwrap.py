"""The `bwrap` sandbox: bubblewrap, Linux's own namespaces, no daemon, no image, no rights needed."""

from collections.abc import Sequence

from inspect_ai.util import sandboxenv
from typing_extensions import override

from swaplaw_forensic.sandbox.environment import ForensicSandbox
from swaplaw_forensic.sandbox.limits import limited
from swaplaw_forensic.sandbox.protections import Protection, bwrap_arguments, hidden_paths
from swaplaw_forensic.sandbox.seccomp import bpf
from swaplaw_forensic.sandbox.stage import program


@sandboxenv(name="bwrap")
class BwrapSandbox(ForensicSandbox):
    """A sample in bubblewrap, with the host's programs and nothing else of the host."""

    @override
    def _prepared(self) -> bytes:
        program("bwrap", "bubblewrap")
        return bpf() if Protection.SECCOMP in self.protections else b""

    @override
    def _command(self, command: Sequence[str], cwd: str, env: dict[str, str], filter_fd: int | None) -> list[str]:
        arguments = bwrap_arguments(
            self.protections,
            evidence=self.config.evidence is not None,
            cwd=cwd,
            env=env,
            seccomp_fd=filter_fd,
            hidden=hidden_paths(),
        )
        inside = limited(command, self.config.limits, self.protections)
        return [program("bwrap", "bubblewrap"), *arguments, "--", *inside]
