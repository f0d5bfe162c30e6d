"""A judge: it sees the lines of a log in order and says which of them broke its promise.

Owns the verdicts and their three outcomes. A judge keeps state of its own per group, so one may see
the lines of many.
"""

from __future__ import annotations

from enum import Enum
from typing import ClassVar, Final, NamedTuple

from ..event_log.reader import Line as Line
from ..history.consumer_groups import ConsumerGroups

NEVER: Final = 1 << 62


class Judgement(Enum):
    """How a promise stands."""

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


class Judge:
    """One promise. Subclasses say what it is and look at each line."""

    name: ClassVar[str]
    promise: ClassVar[str]
    """Kafka's promise, exceptions included, as a sentence."""
    needs: ClassVar[frozenset[str]] = frozenset({"group"})
    """The streams that have to be in the log."""
    unasked: ClassVar[bool] = False
    """True if nothing is said where such a stream is missing, not even that it was not judged: of
    what most runs do not have."""
    looks_at: ClassVar[frozenset[str] | None] = None
    """The types of lines that it looks at: others it need not be shown, and it says the same. None:
    all."""
    of_streams: ClassVar[frozenset[str] | None] = None
    """The same of streams: of others it need not be shown a line, whatever its type. None: all."""
    also: ClassVar[frozenset[str]] = frozenset()
    """Types of lines that it looks at beside those of its streams."""
    timed: ClassVar[bool] = False
    """True if it has something to say of the mere passing of time: then it is told when a line
    comes at its `due_ms` or later."""
    goes_on: ClassVar[bool] = False
    """True if what it has seen still counts when a snapshot was restored; others begin anew then,
    and keep what they have found."""

    def __init__(self) -> None:
        self.findings: list[Finding] = []
        self.due_ms = NEVER

    def see(self, line: Line) -> None:
        """Look at the next line."""
        raise NotImplementedError

    def passed(self, now_ms: int) -> None:
        """The log has come to this instant: for judges that are `timed`, also at its end."""

    def finish(self) -> None:
        """The log has ended."""

    def blame(self, line: Line, text: str) -> None:
        """This line broke the promise."""
        self.findings.append(Finding(line["seq"], line["at_ms"], text))


class KnowsConsumerGroups(Judge):
    """A judge to whom consumer groups are known. Those of one panel know them together: each shows
    them what it is shown itself."""

    def __init__(self) -> None:
        super().__init__()
        self.consumers = ConsumerGroups()
