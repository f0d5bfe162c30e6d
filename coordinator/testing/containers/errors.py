"""Errors of brokers in containers: one family of exceptions, each with a message that says what
to do. Translates Docker's refusals."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

PORT_TAKEN = ("already allocated", "already in use", "ports are not available")
"""Texts by which Docker reports that a port of the host is taken: from its own table of ports,
the kernel, Docker Desktop."""

_REFUSED_CONFIG = re.compile(r"ConfigException: (.+)")
_TROUBLE = re.compile(r"\b(ERROR|FATAL|\w*(Exception|Error)\b|error:)")
_LONGEST_REASON = 500


class ContainerError(Exception):
    """A broker in a container is not available or cannot be used in this way; the message says
    what failed, where, and what to do."""


class DockerUnavailableError(ContainerError):
    """No Docker daemon answers, or this user has no access to it. A test suite may skip on it."""


class ImageUnavailableError(ContainerError):
    """The image is not on this machine and cannot be pulled. A test suite may skip on it."""


def unreachable(error: BaseException) -> DockerUnavailableError:
    """Return the error for an exception of Docker's client when it first contacts the daemon."""
    where = os.environ.get("DOCKER_HOST") or "Docker's usual socket"
    if any(isinstance(cause, PermissionError) for cause in _causes(error)):
        return DockerUnavailableError(
            f"no permission to speak to Docker at {where}: add this user to the group that owns the socket (often `docker`) and log in "
            "again, use rootless Docker, or set DOCKER_HOST to a daemon that this user may ask"
        )
    return DockerUnavailableError(
        f"no Docker daemon answers at {where}: start Docker (`docker version` must answer), or set DOCKER_HOST to where it listens. "
        f"Docker's client says: {_one_line(error)}"
    )


def unavailable(image: str, reason: object, advice: str) -> ImageUnavailableError:
    """Return the error for an image that is not on this machine and cannot be pulled. `advice`:
    another remedy."""
    return ImageUnavailableError(
        f"image {image} is not on this machine and cannot be pulled ({_one_line(reason)}): see that its name is right, "
        f"pull it where there is a network (`docker pull {image}`), or {advice}"
    )


def taken(port: int) -> ContainerError:
    """Return the error for a fixed port that another program uses."""
    return ContainerError(
        f"port {port} of this machine is taken: free it (`docker ps` shows containers, `ss -ltnp` other programs), "
        "give another port, or give none to have a free one chosen"
    )


def refused(what: str, error: BaseException) -> ContainerError:
    """Return the error for a request that Docker refuses for another reason."""
    return ContainerError(f"Docker could not {what}: {_one_line(error)}")


def is_port_taken(error: BaseException) -> bool:
    """Return True if Docker refused a start because a port of the host is taken."""
    return any(sign in str(error) for sign in PORT_TAKEN)


def reason_in(log: str) -> str:
    """Return the line of a broker's log that best explains why it ended; empty for an empty log."""
    refusals = _REFUSED_CONFIG.findall(log)
    if refusals:
        return f"it refuses its configuration: {refusals[0]}"[:_LONGEST_REASON]
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    troubled = [line for line in lines if _TROUBLE.search(line) and not line.startswith("at ")]
    return (troubled or lines or [""])[-1][:_LONGEST_REASON]


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes: raised from, raised while, or wrapped as an argument."""
    seen: list[BaseException] = []
    todo: list[object] = [error]
    while todo:
        one = todo.pop()
        if isinstance(one, BaseException) and one not in seen:
            seen.append(one)
            todo += [one.__cause__, one.__context__, *one.args]
    yield from seen


def _one_line(error: object) -> str:
    """Return Docker's explanation, if it has one, else the error's text."""
    return " ".join(str(getattr(error, "explanation", None) or error).split())[:_LONGEST_REASON]
