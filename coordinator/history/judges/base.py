"""A judge: it sees the lines of a log in order and says which of them broke its promise.

Owns the verdicts and their three outcomes. A judge keeps state of its own per group, so one may see
the lines of many.
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
    """Result for a promise: kept, broken, or not judged."""

    KEPT = "kept"
    BROKEN = "broken"
    NOT_JUDGED = "not judged"

    __hash__ = object.__hash__

    def __str__(self) -> str:
        return self.value


class Finding(NamedTuple):
    """A line that broke a promise: its number, its instant, and what is wrong with it."""

    seq: int
    at_ms: int
    text: str

    def __str__(self) -> str:
        return f"line {self.seq}, at {self.at_ms} ms: {self.text}"


class Verdict(NamedTuple):
    """The verdict of a judge on a log. `why`: of a promise that was not judged."""

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
    """One promise. Subclasses say what it is; their handlers (`coordinator.events.handlers`) look at
    events, and at no others is a judge shown a line."""

    name: ClassVar[str]
    promise: ClassVar[str]
    """Kafka's promise, exceptions included, as a sentence."""
    needs: ClassVar[frozenset[str]] = frozenset({"group"})
    """The streams that have to be in the log."""
    unasked: ClassVar[bool] = False
    """True if nothing is said where such a stream is missing, not even that it was not judged: of
    what most runs do not have."""
    timed: ClassVar[bool] = False
    """True if it has something to say of the mere passing of time: then it is told when a line
    comes at its `due_ms` or later, after that line's handler was called."""
    time_first: ClassVar[bool] = False
    """True if it is told so also before a handler is called: what is over by then is so, whatever
    the line tells."""
    goes_on: ClassVar[bool] = False
    """True if what it has seen still counts when a snapshot was restored; others begin anew then,
    and keep what they have found."""

    @property
    def idle(self) -> bool:
        """True as long as it has seen nothing to judge: one that is `unasked` says nothing then."""
        return False

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.due_ms = NEVER

    def see(self, line: Line) -> None:
        """Look at the next line, for a judge alone; a panel calls handlers itself."""
        look = self.looking_at(line.kind)
        if look is not None:
            look(line, line.event)

    def looking_at(self, kind: type[Any]) -> Callable[[Line, Any], None] | None:
        """Return what is to be called with each line of a class of events and its event, None if
        the judge does not look at them."""
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
        """The log has come to this instant: for judges that are `timed`, also at its end."""

    def finish(self) -> None:
        """The log has ended."""

    def blame(self, line: Line, text: str) -> None:
        """This line broke the promise."""
        self.findings.append(Finding(line.seq, line.at_ms, text))


class KnowsConsumerGroups(Judge):
    """A judge that knows consumer groups. Those of one panel know them together: each handles
    `CHANGES`, and shows them to `consumers`."""

    def __init__(self) -> None:
        super().__init__()
        self.consumers = ConsumerGroups()
