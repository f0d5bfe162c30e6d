"""One pass over a log for several readers: `History`.

Subscribe to the facts that are needed, call `see` for each line that counts in order
(`accepted_lines`), then `finish`. Readers that nobody needs are not made, and those that several
others are built on (consumer groups, moves) read the log once. Memberships and owners are in
`memberships` and `owners`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from coordinator.events.line import Line

from .groups.consumer_groups import ConsumerGroups
from .groups.settlings import Settling, Settlings
from .groups.spans import Spans
from .ownership.gaps import Gaps
from .ownership.moves import Moves
from .timeline import Timeline

See = Callable[[Line], object]
T = TypeVar("T")


class History:
    """The facts of one run, for its subscribers. A fact that lasts is reported when it is over
    or, at the end of the log, when it is not."""

    def __init__(self) -> None:
        self._all: list[See] = []
        """Readers of every line."""
        self._of_stream: dict[str, list[See]] = {}
        self._finish: list[Callable[[int], None]] = []
        self._timeline: Timeline | None = None
        self._moves: Moves | None = None
        self._consumers: ConsumerGroups | None = None
        self._spans: Spans | None = None

    def timeline(self) -> Timeline:
        """Return the rebalances of classic groups, with causes, phases, shares and waits, but
        without sentences."""
        if self._timeline is None:
            self._timeline = Timeline()
            self._all.append(self._timeline.fold)
        return self._timeline

    def moves(self) -> Moves:
        """Return the moves of partitions; `last` has those of the latest line."""
        if self._moves is None:
            self._moves = self._first(Moves(), "group")
        return self._moves

    def consumer_groups(self) -> ConsumerGroups:
        """Return the present members, epochs and targets of KIP-848 groups."""
        if self._consumers is None:
            self._consumers = self._first(ConsumerGroups(), "group")
        return self._consumers

    def settlings(self, ended: Callable[[Settling], None]) -> None:
        """Report the group epochs of KIP-848 groups to `ended`."""
        fold = Settlings(ended, self.consumer_groups(), self.moves())
        self.subscribe(fold.see, ("group",), lambda end_ms: fold.finish())

    def spans(self) -> Spans:
        """Return the rebalances of classic groups as spans: the length of each, and the
        partitions that moved."""
        if self._spans is None:
            self._spans = Spans(self.moves())
            self.subscribe(self._spans.see, ("group",))
        return self._spans

    def gaps(self, found: Callable[[int, int], None]) -> None:
        """Report times in which a partition had no owner, by the members' own lines."""
        fold = Gaps(found)
        self.subscribe(fold.see, ("member",), fold.finish)

    def subscribe(
        self, see: See, streams: tuple[str, ...], finish: Callable[[int], None] | None = None
    ) -> None:
        """Add a reader of the lines of some streams, after the readers that were added before.
        `finish`: called with the last instant."""
        for stream in streams:
            self._of_stream.setdefault(stream, []).append(see)
        if finish is not None:
            self._finish.append(finish)

    def see(self, line: Line) -> None:
        """Fold the next line that counts."""
        for see in self._all:
            see(line)
        for see in self._of_stream.get(line.stream, ()):
            see(line)

    def finish(self, end_ms: int) -> None:
        """Handle the end of the log at this instant."""
        for finish in self._finish:
            finish(end_ms)

    def _first(self, fold: T, stream: str) -> T:
        """Let a reader that others are built on see each line before them."""
        see: See = fold.see  # type: ignore[attr-defined]
        self._of_stream.setdefault(stream, []).insert(0, see)
        return fold
