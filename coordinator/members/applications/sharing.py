"""An application that works on the records of a share group, as a pure machine: it polls, takes its
time over each record, and says what became of it.

Rules: while it works it does not poll. In explicit mode each record is acknowledged when it is done
with: accepted, or by chance released or rejected; in implicit mode the next poll accepts all of them.
Does not depend on clocks and connections.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ..config import MemberConfigError
from ..share.consumer import ShareConsumer
from ..share.sessions import ACCEPT, REJECT, RELEASE, SharedRecord

_MOST_TURNS: Final = 10_000
_WORDS: Final = {ACCEPT: "accept", RELEASE: "release", REJECT: "reject"}
Seen = Callable[[SharedRecord, str], None]


@dataclass(frozen=True, slots=True)
class Work:
    """What the application does with a record. `processing_ms`: how long it takes. `release` and
    `reject`: how probable it is that a record is given back, or refused for good."""

    processing_ms: int = 0
    release: float = 0.0
    reject: float = 0.0

    def checked(self, *, implicit: bool) -> Work:
        """Itself. Raises MemberConfigError for what cannot be."""
        if self.processing_ms < 0:
            raise MemberConfigError(f"processing_ms={self.processing_ms}: at least 0")
        for name, share in (("release", self.release), ("reject", self.reject)):
            if not 0 <= share <= 1:
                raise MemberConfigError(f"{name}={share}: a probability, from 0 to 1")
        if self.release + self.reject > 1:
            raise MemberConfigError(
                f"release={self.release} and reject={self.reject}: together no more than 1"
            )
        if implicit and (self.release or self.reject):
            raise MemberConfigError(
                "release and reject need share.acknowledgement.mode=explicit: in implicit mode all "
                "records are accepted"
            )
        return self


class ShareApplication:
    """One working application. `seen` is told each record that it is done with, and its word."""

    def __init__(
        self,
        consumer: ShareConsumer,
        work: Work = Work(),
        *,
        chance: Callable[[], float],
        seen: Seen = lambda of, word: None,
    ) -> None:
        self.consumer = consumer
        self.stalled = False
        """The application does nothing, as if it hung."""
        self.processed = 0
        """How many records it has finished."""
        self._work = work.checked(implicit=consumer.config.implicit)
        self._chance = chance
        self._seen = seen
        self._records: deque[SharedRecord] = deque()
        self._busy_until: int | None = None

    @property
    def in_hand(self) -> tuple[SharedRecord, ...]:
        """What it was given and has not finished."""
        return tuple(self._records)

    def turn(self, now: int) -> None:
        """Go on as far as possible. Raises MemberFault for what ends an application."""
        for _ in range(_MOST_TURNS):
            if self.stalled or not self._step(now):
                return

    def next_turn(self) -> int | None:
        """When `turn` has something to do of its own accord."""
        if self.stalled:
            return None
        return self._busy_until if self._records else self.consumer.next_poll()

    def _step(self, now: int) -> bool:
        """One step; False: it waits."""
        if not self._records:
            self._records.extend(self.consumer.poll(now))
            self._busy_until = now + self._work.processing_ms
            return bool(self._records)
        if self._busy_until is not None and now < self._busy_until:
            return False
        self._finish(self._records.popleft())
        self._busy_until = now + self._work.processing_ms
        return True

    def _finish(self, of: SharedRecord) -> None:
        kind = ACCEPT
        if not self.consumer.config.implicit:
            drawn = self._chance() if self._work.release or self._work.reject else 1.0
            if drawn < self._work.release:
                kind = RELEASE
            elif drawn < self._work.release + self._work.reject:
                kind = REJECT
            self.consumer.acknowledge(of, kind)
        self.processed += 1
        self._seen(of, _WORDS[kind])
