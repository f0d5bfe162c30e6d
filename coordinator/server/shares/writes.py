"""Writes of leaders to the share coordinator, until they are stored durably.

Owns the retries of Kafka's persister if the coordinator is elsewhere or loading: after 1, 2, 4
and 8 s, five attempts in all; and the wait for replication, at most
`share.coordinator.write.timeout.ms` (SH-LD-4). With one broker every write is stored at once.
Does not know what a write is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from coordinator.base.errors import ErrorCode
from coordinator.core.share_states.decide import Decision, refused

from .persister import NOBODY

if TYPE_CHECKING:
    from coordinator.core.share_states.decide import Written
    from coordinator.core.share_states.model import ShareStateKey

    from .host import ShareHost, Stored
    from .persister import Persister

RETRIED: Final = {
    ErrorCode.COORDINATOR_NOT_AVAILABLE: "too few replicas of the share coordinator were in sync",
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: "the share coordinator was loading",
    ErrorCode.NOT_COORDINATOR: "the share coordinator had moved",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "the share coordinator did not know the partition",
}
"""Errors after which it is tried again, and what they mean."""
_NOBODY_WAS_THERE: Final = "no share coordinator could be reached"
_NOT_REPLICATED: Final = "it was not replicated in time"
_MOST_ATTEMPTS: Final = 5
_FIRST_BACKOFF_MS: Final = 1_000
_EXHAUSTED: Final = "Exhausted max retries to complete write state RPC without success."
_TIMEOUT: Final = "share.coordinator.write.timeout.ms"


def next_attempt(attempts: int, now: int) -> int | None:
    """Return the instant of the next attempt after `attempts` failed ones, or None if there is
    none.
    """
    return None if attempts >= _MOST_ATTEMPTS else now + (_FIRST_BACKOFF_MS << (attempts - 1))


class Write:
    """A write in progress. `written`: returns the state to store at each attempt; `settled` is
    called once, with the result.
    """

    __slots__ = (
        "attempts",
        "begun_ms",
        "cause",
        "decision",
        "due_ms",
        "failures",
        "key",
        "settled",
        "stored",
        "written",
    )

    def __init__(
        self, key: ShareStateKey, written: Callable[[], Written], now: int, cause: int | None
    ) -> None:
        self.key = key
        self.written = written
        self.cause = cause
        self.begun_ms = now
        self.attempts = 0
        self.failures: dict[str, None] = {}
        """The reasons of failed attempts, each once."""
        self.due_ms = 0
        """The instant at which it is tried again, or given up."""
        self.decision = Decision()
        self.stored: Stored | None = None
        """It is stored by this share coordinator, and not replicated yet."""
        self.settled: Callable[[Decision, int], object] = lambda _decision, _now: None


class Writes:
    """Writes of one broker in progress."""

    def __init__(self, broker: ShareHost, persister: Persister) -> None:
        self._broker = broker
        self._persister = persister
        self._under_way: list[Write] = []
        self._changed = False

    def write(
        self,
        key: ShareStateKey,
        written: Written,
        again: Callable[[], Written],
        now: int,
        cause: int | None,
    ) -> Decision | Write:
        """Store a leader's change. Return the share coordinator's decision, or the write in
        progress. `again`: returns the state to store at a later attempt.
        """
        decision, stored = self._persister.write(key, written, now, cause)
        if stored is None and decision.error not in RETRIED:
            return decision
        one = Write(key, again, now, cause)
        self._begun(one, decision, stored, now)
        self._under_way.append(one)
        return one

    def under_way(self) -> Iterator[ShareStateKey]:
        """Yield the keys of states with writes in progress."""
        return (one.key for one in self._under_way)

    def look(self) -> None:
        """Let the next `tick` check the writes: something was replicated, or a share coordinator
        moved.
        """
        self._changed = bool(self._under_way)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        if self._changed:
            return 0
        return min((one.due_ms for one in self._under_way), default=None)

    def tick(self, now: int) -> None:
        """Retry the writes that are due, and settle those that are replicated."""
        changed, self._changed = self._changed, False
        for one in list(self._under_way):
            if one.due_ms <= now or (changed and one.stored is not None):
                decision = self._go_on(one, now)
                if decision is not None:
                    self._under_way.remove(one)
                    one.settled(decision, now)

    def _go_on(self, one: Write, now: int) -> Decision | None:
        """Continue a write; return its result, or None if it is still in progress."""
        if one.stored is None:
            return self._begun(
                one, *self._persister.write(one.key, one.written(), now, one.cause), now
            )
        error = one.stored.progress()
        if error is ErrorCode.NONE:
            return one.decision
        if error is None:
            if one.due_ms > now:
                return None
            one.failures[_NOT_REPLICATED] = None
            return self._failed(one, refused(ErrorCode.COORDINATOR_NOT_AVAILABLE), now)
        one.failures[RETRIED[error]] = None
        return self._failed(one, refused(error), now)

    def _begun(
        self, one: Write, decision: Decision, stored: Stored | None, now: int
    ) -> Decision | None:
        if decision.error in RETRIED:
            why = _NOBODY_WAS_THERE if decision is NOBODY else RETRIED[decision.error]
            one.failures[why] = None
            return self._failed(one, decision, now)
        if stored is None:
            return decision
        one.decision, one.stored = decision, stored
        one.due_ms = now + self._broker.configs.get_int(_TIMEOUT)
        return None

    @staticmethod
    def _failed(one: Write, decision: Decision, now: int) -> Decision | None:
        one.stored = None
        one.attempts += 1
        due_ms = next_attempt(one.attempts, now)
        if due_ms is None:
            return refused(decision.error, _EXHAUSTED)
        one.due_ms = due_ms
        return None
