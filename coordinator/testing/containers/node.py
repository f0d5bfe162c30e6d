"""One broker's container: its address for clients, its log, its stop and start, and whether it is
alive.

Waits for one broker, and has the words for one that ended early. It must not know how a
container is created or removed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from testcontainers.core.container import DockerContainer

from .daemon import DOCKER_ERRORS
from .errors import ContainerError, is_port_taken, reason_in, refused, taken

STOP_LIMIT_S: Final = 30
_POLL_S: Final = 0.05


@dataclass(slots=True, kw_only=True)
class Node:
    """A broker: its id, from 1 on, its container, and its address for clients. `kind`: a noun
    for it in error messages."""

    kind: str
    number: int
    host: str
    port: int
    container: DockerContainer
    alive: Callable[[Node], set[int]]
    """Return the ids of the brokers that this one knows to be alive; none while it does not
    answer."""

    def __str__(self) -> str:
        return f"{self.kind} {self.number}"

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"{self.host}:{self.port}"

    @property
    def docker(self) -> Any:
        """The container as an object of Docker's client."""
        return self.container.get_wrapped_container()

    def logs(self, tail: int | None = None) -> str:
        """Return the broker's log, or its last lines. Raises ContainerError."""
        try:
            output: bytes = self.docker.logs(tail="all" if tail is None else tail)
        except DOCKER_ERRORS as error:
            raise refused(f"read the log of {self}", error) from error
        return output.decode(errors="replace")

    def order(self, verb: str, **options: object) -> None:
        """Let Docker kill, stop, start, pause or unpause the container, or wait for its end.
        Raises ContainerError."""
        try:
            getattr(self.docker, verb)(**options)
        except DOCKER_ERRORS as error:
            if is_port_taken(error):
                raise taken(self.port) from error
            raise refused(f"{verb} {self}", error) from error

    def await_alive(self, ids: set[int], limit_s: float) -> None:
        """Wait until the broker knows the brokers with these ids to be alive. Raises
        ContainerError if it ends, or after the limit."""
        deadline = time.monotonic() + limit_s
        while not ids <= self.alive(self):
            self._check_running()
            if time.monotonic() > deadline:
                raise ContainerError(
                    f"{self} at {self.address} was not ready within {limit_s:g} s; a slow machine needs a larger startup_timeout_s. "
                    f"The end of its log is attached; what stands out there: {self._reason()}"
                )
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Close the Docker client; the container stays."""
        self.container.get_docker_client().client.close()

    def _check_running(self) -> None:
        """Raise ContainerError if the container has ended."""
        try:
            self.docker.reload()
        except DOCKER_ERRORS as error:
            raise refused(f"look after {self}", error) from error
        state = self.docker.attrs["State"]
        if state["Status"] in ("exited", "dead"):
            memory = " (out of memory)" if state.get("OOMKilled") else ""
            raise ContainerError(
                f"{self} ended before it was ready, exit code {state['ExitCode']}{memory}: {self._reason()}"
            )

    def _reason(self) -> str:
        with suppress(ContainerError):
            return reason_in(self.logs()) or "nothing, its log is empty"
        return "nothing, its log cannot be read"
