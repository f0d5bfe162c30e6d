"""Reports of the demo's clients (JSON lines on standard output, each with the wall clock), and
the options that the clients share."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Report(NamedTuple):
    """One line of one client. `wall_ms` is Unix time in milliseconds."""

    who: str
    wall_ms: float
    type: str
    fields: Mapping[str, Any]

    @classmethod
    def parse(cls, who: str, text: str) -> Report:
        """Read a line. Raises ValueError or KeyError."""
        fields = json.loads(text)
        return cls(who, fields.pop("wall_ms"), fields.pop("type"), fields)


def tell(kind: str, **fields: Any) -> None:
    """Print a report at once."""
    sys.stdout.write(json.dumps({"wall_ms": time.time() * 1000, "type": kind, **fields}) + "\n")
    sys.stdout.flush()


def tell_partitions(kind: str, partitions: Iterable[int]) -> None:
    """Report partitions: `assigned`, `revoked`."""
    tell(kind, partitions=sorted(partitions))


def tell_consumed(spans: Mapping[int, tuple[int, int]]) -> None:
    """Report the records of a poll: first and last offset by partition."""
    tell("consumed", spans={str(partition): span for partition, span in spans.items()})


def tell_committed(offsets: Mapping[int, int]) -> None:
    """Report a commit: next offset by partition."""
    tell("committed", offsets={str(partition): offset for partition, offset in offsets.items()})


def options() -> Namespace:
    """Return the options of a client: the server's address, the topic, the group."""
    parser = ArgumentParser()
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--group", default="")
    return parser.parse_args()


#: What all consumers of the demo are given: Kafka's names.
SESSION_TIMEOUT_MS = 6000
HEARTBEAT_INTERVAL_MS = 500
METADATA_MAX_AGE_MS = 2000
