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
    `reject`: how probable it is that a record is given back, or refused for good. `poison`: every
    so manieth record of a partition is one that nobody can process, and is always given back; 0:
    none."""

    processing_ms: int = 0
    release: float = 0.0
    reject: float = 0.0
    poison: int = 0

    @property
    def chooses(self) -> bool:
        """Does it accept some records and others not?"""
        return bool(self.release or self.reject or self.poison)

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
        if self.poison < 0:
            raise MemberConfigError(f"poison={self.poison}: every so manieth record, or 0 for none")
        if implicit and self.chooses:
            raise MemberConfigError(
                "release, reject and poison need share.acknowledgement.mode=explicit: in implicit "
                "mode all records are accepted"
            )
        return self

    def kind_of(self, offset: int, chance: Callable[[], float]) -> int:
        """What it says of a record."""
        if self.poison and (offset + 1) % self.poison == 0:
            return RELEASE
        drawn = chance() if self.release or self.reject else 1.0
        if drawn < self.release:
            return RELEASE
        return REJECT if drawn < self.release + self.reject else ACCEPT


class ShareApplication:
    """One working application. `given` is told what each poll gave it; `seen` each record that it is
    done with, and its word."""

    def __init__(
        self,
        consumer: ShareConsumer,
        work: Work = Work(),
        *,
        chance: Callable[[], float],
        given: Callable[[list[SharedRecord]], None] = lambda records: None,
        seen: Seen = lambda of, word: None,
    ) -> None:
        self.consumer = consumer
        self.stalled = False
        """The application does nothing, as if it hung."""
        self.processed = 0
        """How many records it has finished."""
        self._work = work.checked(implicit=consumer.config.implicit)
        self._chance = chance
        self._given = given
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
            polled = self.consumer.poll(now)
            if polled:
                self._given(polled)
                self._records.extend(polled)
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
            kind = self._work.kind_of(of.record.offset, self._chance)
            self.consumer.acknowledge(of, kind)
        self.processed += 1
        self._seen(of, _WORDS[kind])
