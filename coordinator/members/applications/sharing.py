"""An application on a share group as a pure state machine: it polls, works on each record, and
acknowledges it.

While it works it does not poll. In explicit mode each record is acknowledged when it is
finished: accepted, or at random released or rejected; in implicit mode the next poll accepts
all. An application that renews locks renews them for all records it holds, and polls until they
come back: a record that does not is lost and dropped (SH-ACK-2). Does not know clocks or
connections.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from assignors import TopicPartition

from ..config import MemberConfigError
from ..share.consumer import ShareConsumer
from ..share.session import ACCEPT, REJECT, RELEASE, RENEW, SharedRecord

_MOST_TURNS: Final = 10_000
_MOST_MS: Final = (1 << 31) - 1
_WORDS: Final = {ACCEPT: "accept", RELEASE: "release", REJECT: "reject"}
Seen = Callable[[SharedRecord, str], None]


def _is_time(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_MS


@dataclass(frozen=True, slots=True)
class Work:
    """The application's work on records. `processing_ms`: time for each. `release`, `reject`: the
    probability of that acknowledgement. `poison`: every n-th record of a partition cannot be
    processed and is always released; 0: none. `renew_ms`: interval after which the locks of all
    held records are renewed; 0: never.
    """

    processing_ms: int = 0
    release: float = 0.0
    reject: float = 0.0
    poison: int = 0
    renew_ms: int = 0

    @property
    def is_explicit(self) -> bool:
        """True if other acknowledgements than accept occur, so that each record is acknowledged."""
        return bool(self.release or self.reject or self.poison or self.renew_ms)

    def checked(self, *, implicit: bool) -> Work:
        """Return the value itself. Raises MemberConfigError for invalid values."""
        takes: object = self.processing_ms
        if not _is_time(takes):
            raise MemberConfigError(
                f"processing_ms={takes!r}: whole milliseconds, from 0 to {_MOST_MS}"
            )
        shares: dict[str, object] = {"release": self.release, "reject": self.reject}
        for name, share in shares.items():
            if not isinstance(share, (int, float)) or not 0 <= share <= 1:
                raise MemberConfigError(f"{name}={share!r}: a probability, from 0 to 1")
        if self.release + self.reject > 1:
            raise MemberConfigError(
                f"release={self.release} and reject={self.reject}: together no more than 1"
            )
        if self.poison < 0:
            raise MemberConfigError(f"poison={self.poison}: every so manieth record, or 0 for none")
        if not _is_time(self.renew_ms):
            raise MemberConfigError(
                f"renew_ms={self.renew_ms!r}: whole milliseconds up to {_MOST_MS}, or 0 for never"
            )
        if implicit and self.is_explicit:
            raise MemberConfigError(
                "release, reject, poison and renew need share.acknowledgement.mode=explicit: in "
                "implicit mode all records are accepted"
            )
        return self

    def kind_of(self, offset: int, chance: Callable[[], float]) -> int:
        """Return the acknowledgement type for a record."""
        if self.poison and (offset + 1) % self.poison == 0:
            return RELEASE
        drawn = chance() if self.release or self.reject else 1.0
        if drawn < self.release:
            return RELEASE
        return REJECT if drawn < self.release + self.reject else ACCEPT


class ShareApplication:
    """One application on a share group. `given` is called with the records of each poll; `seen`
    with each finished record and its acknowledgement.
    """

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
        """The number of records that it has finished."""
        self.renewed = 0
        """The number of acquisition locks that it has renewed."""
        self._work = work.checked(implicit=consumer.config.implicit)
        self._chance = chance
        self._given = given
        self._seen = seen
        self._records: deque[SharedRecord] = deque()
        self._busy_until: int | None = None
        self._renew_at = 0
        self._renewing = False

    @property
    def in_hand(self) -> tuple[SharedRecord, ...]:
        """Records that it has received and not finished."""
        return tuple(self._records)

    def turn(self, now: int) -> None:
        """Continue as far as possible. Raises MemberFault if the application ends."""
        for _ in range(_MOST_TURNS):
            if self.stalled or not self._step(now):
                return

    def next_turn(self) -> int | None:
        """Return the instant at which `turn` is due, or None."""
        if self.stalled:
            return None
        if not self._records or self._renewing:
            return self.consumer.next_poll()
        if self._busy_until is None or not self._work.renew_ms:
            return self._busy_until
        return min(self._busy_until, self._renew_at)

    def _step(self, now: int) -> bool:
        """Do one step; return False if the application has to wait."""
        if self._renewing:
            return self._take_back(now)
        if not self._records:
            self._take(self.consumer.poll(now), now)
            return bool(self._records)
        if self._busy_until is not None and now < self._busy_until:
            if not self._work.renew_ms or now < self._renew_at:
                return False
            return self._renew(now)
        self._finish(self._records.popleft())
        self._busy_until = now + self._work.processing_ms
        return True

    def _renew(self, now: int) -> bool:
        """Renew the locks of all held records, and poll for them."""
        self._renewing = True
        renewing = [of for of in self._records if self.consumer.acknowledge(of, RENEW)]
        self._keep(renewing, now)
        return True

    def _take_back(self, now: int) -> bool:
        """Take renewed records back when all renewals are answered; the others are lost."""
        polled = self.consumer.poll(now)
        if self.consumer.renewing:
            return False
        self._renewing = False
        renewed = {_delivery(of) for of in polled}.intersection(map(_delivery, self._records))
        self._keep([of for of in self._records if _delivery(of) in renewed], now)
        self.renewed += len(renewed)
        self._renew_at = now + self._work.renew_ms
        if polled and not renewed:
            self._take(polled, now)
        return bool(self._records)

    def _take(self, polled: list[SharedRecord], now: int) -> None:
        """Start to work on the records of a poll."""
        if polled:
            self._given(polled)
            self._records.extend(polled)
        self._busy_until = now + self._work.processing_ms
        self._renew_at = now + self._work.renew_ms

    def _keep(self, left: list[SharedRecord], now: int) -> None:
        """Continue with these records; start the next one if the current one is not among them."""
        if not left or left[0] is not self._records[0]:
            self._busy_until = now + self._work.processing_ms
        self._records = deque(left)

    def _finish(self, of: SharedRecord) -> None:
        kind = ACCEPT
        if not self.consumer.config.implicit:
            kind = self._work.kind_of(of.record.offset, self._chance)
            self.consumer.acknowledge(of, kind)
        self.processed += 1
        self._seen(of, _WORDS[kind])


def _delivery(of: SharedRecord) -> tuple[TopicPartition, int, int]:
    """Return the identity of a record's delivery."""
    return of.partition, of.record.offset, of.delivery_count
