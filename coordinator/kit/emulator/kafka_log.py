"""The file with the lines that a Kafka broker would log for what happens to the emulator's
groups. With it, tools that read brokers' logs can be tried. The lines themselves are made
elsewhere; this module only follows the event log and writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING

from .options import EmulatorError

if TYPE_CHECKING:
    from coordinator.events import EventLog

REMEMBERED = 1_000
"""Number of lines that the event log keeps in memory if it is written only for this file."""


class KafkaLog:
    """Follows an event log and appends a broker's lines to a file.

    `release`: the release of Kafka whose wording is used, such as "4.3.1". `epoch_ms`: the wall
    clock at the event log's zero. `tell`: called once with a sentence if the file cannot be
    written. Raises EmulatorError for a file that cannot be opened.
    """

    def __init__(
        self,
        path: str | PathLike[str],
        log: EventLog,
        *,
        release: str,
        epoch_ms: int,
        partitions: int,
        node_id: int,
        tell: Callable[[str], None],
    ) -> None:
        from coordinator.clusters.written.kafka_lines import KafkaLines

        try:
            self._file = open(  # noqa: SIM115  # open as long as the emulator runs
                path, "a", encoding="utf-8", newline="\n", buffering=1
            )
        except OSError as error:
            raise EmulatorError(
                f"cannot write the Kafka log {path}: {error.strerror or error}"
            ) from error
        self._path = path
        self._lines = KafkaLines(release, epoch_ms=epoch_ms, partitions=partitions, broker=node_id)
        self._tell: Callable[[str], None] | None = tell
        self._log = log
        log.followers.append(self._follow)

    def _follow(self, text: str) -> None:
        if '"stream":"group"' not in text:
            return
        from coordinator.events.line import lines_of

        (line,) = lines_of([json.loads(text)])
        try:
            for said in self._lines.lines(line):
                self._file.write(f"{said}\n")
        except OSError as error:
            if self._tell is not None:
                self._tell(f"the Kafka log {self._path} takes no lines: {error.strerror or error}")
                self._tell = None

    def close(self) -> None:
        """Close the file."""
        self._log.followers.remove(self._follow)
        try:
            self._file.close()
        except OSError:
            pass  # told before, or nothing was lost that would be written later
