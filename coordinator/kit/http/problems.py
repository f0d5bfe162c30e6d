"""Problem documents (RFC 9457): a status, a sentence, and the name of the error, by which a client
can tell errors apart.

This module decides which error of the kit has which status. A mistake of the emulator itself is
500 with one sentence; its traceback goes to the process's log.
"""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

from coordinator.base.printable import printable
from coordinator.events import LogError
from coordinator.members import MemberConfigError, MemberFault
from coordinator.members.live import FleetError, PeerError
from coordinator.server.build import TopicError
from coordinator.server.cluster_runtime.options import ClusterError
from coordinator.server.settings.broker_configs import ConfigError
from coordinator.server.settings.definitions import ConfigException

from ..arguments import ArgumentError
from ..emulator.options import EmulatorError
from ..faults import FaultError
from ..in_process_requests import ControlError
from ..waiting import WaitTimeoutError
from ..waits.expectations import ExpectationError
from .port import NotThereError
from .shapes import ShapeError

logger = logging.getLogger("coordinator.kit.http")

STATUSES: dict[type[BaseException], int] = {
    ShapeError: 400,
    ArgumentError: 400,
    ExpectationError: 400,
    FaultError: 400,
    MemberConfigError: 400,
    TopicError: 400,
    ConfigError: 400,
    ConfigException: 400,
    NotThereError: 404,
    LookupError: 404,
    WaitTimeoutError: 409,
    ControlError: 409,
    ClusterError: 409,
    FleetError: 409,
    PeerError: 409,
    MemberFault: 409,
    EmulatorError: 409,
    LogError: 409,
}
"""Status by class of error; the first class that fits decides. 409: what is requested is
impossible in the present state, or did not come about."""
_OF_OUR_OWN = (KeyError, IndexError)
"""Errors of Python for a missing key or index. No code raises them on purpose for a caller, so
they are a mistake of the emulator. A lookup that may fail raises LookupError or a subclass with
a name of its own."""
TITLES = {
    400: "The request is malformed",
    401: "A token is needed",
    403: "This caller is not authorized",
    404: "Not found",
    405: "This method is not allowed here",
    409: "It cannot be done, or did not happen in time",
    413: "The body is too large",
    415: "A body is JSON",
    500: "The emulator failed",
}


class Problem(NamedTuple):
    """One problem document."""

    status: int
    detail: str
    error: str = ""
    kafka_error: str | None = None

    def plain(self) -> dict[str, Any]:
        """Return the problem as JSON values."""
        detail = "\n".join(map(printable, self.detail.split("\n")))
        about: dict[str, Any] = {
            "type": "about:blank",
            "title": TITLES[self.status],
            "status": self.status,
            "detail": detail,
        }
        if self.error:
            about["error"] = self.error
        if self.kafka_error is not None:
            about["kafka_error"] = self.kafka_error
        return about


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "what is wrong, and what there is instead"},
        "error": {
            "type": "string",
            "description": "the kind of error, by which clients may tell them apart",
        },
        "kafka_error": {
            "type": "string",
            "description": "Kafka's name of the error, where the broker refused",
        },
    },
    "required": ["type", "title", "status", "detail"],
}


def problem_of(error: Exception) -> Problem:
    """Return the problem document for an error."""
    for kind, status in STATUSES.items():
        if isinstance(error, kind) and type(error) not in _OF_OUR_OWN:
            code = getattr(error, "code", None)
            text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
            return Problem(status, text, kind.__name__, getattr(code, "name", None))
    logger.error("the control port: %s", error, exc_info=error)
    return Problem(
        500,
        f"{type(error).__name__}: {error}; this is a mistake of the emulator, whose traceback stands in its own output",
    )
