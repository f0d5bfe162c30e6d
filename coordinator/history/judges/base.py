"""The base class of judges: a judge reads a log's lines in order and blames those that break its
promise.

Has the verdicts and their three outcomes. A judge keeps its state by group, so one judge can
read the lines of many. `judging.py` runs all judges.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import Any, ClassVar, Final, NamedTuple

from coordinator.events.handlers import Reader
from coordinator.events.line import Line as Line

from ..world.groups.consumer_groups import ConsumerGroups

NEVER: Final = 1 << 62


class Judgement(Enum):
    """Result of a judge: the promise is kept, broken, or not judged."""

    KEPT = "kept"
    BROKEN = "broken"
    NOT_JUDGED = "not judged"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


class Finding(NamedTuple):
    """A line that broke a promise: its number, its instant, and what is wrong."""

    seq: int
    at_ms: int
    text: str

    def __str__(self) -> str:
        return f"line {self.seq}, at {self.at_ms} ms: {self.text}"


class Verdict(NamedTuple):
    """The verdict of a judge on a log. `why`: the reason why it did not judge."""

    judge: str
    promise: str
    judgement: Judgement
    findings: tuple[Finding, ...] = ()
    why: str = ""

    def __str__(self) -> str:
        if self.judgement is Judgement.NOT_JUDGED:
            return f"{self.judge}: not judged: {self.why}"
        lines = "".join(f"\n  {finding}" for finding in self.findings)
        return f"{self.judge}: {self.judgement}: {self.promise}{lines}"


class Judge(Reader):
    """One promise. A subclass states it, and has handlers (`coordinator.events.handlers`) for
    the events that it needs; it gets no other lines."""

    name: ClassVar[str]
    promise: ClassVar[str]
    """Kafka's promise, exceptions included, as a sentence."""
    needs: ClassVar[frozenset[str]] = frozenset({"group"})
    """The streams that the log must have."""
    unasked: ClassVar[bool] = False
    """Leave the verdict out when a needed stream is missing, because most runs do not have it.
    Otherwise the verdict is "not judged"."""
    timed: ClassVar[bool] = False
    """The passing of time alone can break the promise. The judge is then called when a line at
    `due_ms` or later was handled."""
    time_first: ClassVar[bool] = False
    """The judge is then called before the line's handler, too: a promise that is overdue then is
    broken, whatever the line says."""
    goes_on: ClassVar[bool] = False
    """The judge's state is still valid after a snapshot was restored. Other judges start again
    then, and keep their findings."""

    @property
    def idle(self) -> bool:
        """Return True if the judge has seen nothing to judge. Then one that is `unasked` has no
        verdict."""
        return False

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.due_ms = NEVER

    def see(self, line: Line) -> None:
        """Handle the next line, for a judge without a panel."""
        look = self.looking_at(line.kind)
        if look is not None:
            look(line, line.event)

    def looking_at(self, kind: type[Any]) -> Callable[[Line, Any], None] | None:
        """Return the handler for lines of a class of events, or None."""
        handler = self.handlers.get(kind)
        if handler is None:
            return None
        look: Callable[[Line, Any], None] = handler.__get__(self)
        if not self.time_first:
            return look

        def look_in_time(line: Line, event: Any) -> None:
            if line.at_ms >= self.due_ms:
                self.passed(line.at_ms)
            look(line, event)

        return look_in_time

    def passed(self, now_ms: int) -> None:
        """Note that the log has reached this instant. Called for judges that are `timed`, and at
        the end of the log."""

    def finish(self) -> None:
        """Handle the end of the log."""

    def blame(self, line: Line, text: str) -> None:
        """Note that this line broke the promise."""
        self.findings.append(Finding(line.seq, line.at_ms, text))


class KnowsConsumerGroups(Judge):
    """A judge that needs consumer groups. The judges of one panel share one fold of them: each
    handles `CHANGES` and passes them to `consumers`."""

    def __init__(self) -> None:
        super().__init__()
        self.consumers = ConsumerGroups()
