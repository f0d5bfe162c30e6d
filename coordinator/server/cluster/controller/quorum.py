"""Election of the controller: the leader of a quorum of all brokers, as long as a majority can
reach it (KIP-500, KIP-595).

Rules: a leader that a majority cannot reach stays so until controller.quorum.fetch.timeout.ms has
passed; then a broker that reaches a majority takes over, the one with the lowest id, or nobody if
there is none. One that stops in good order hands over at once. Which brokers reach each other is
told. Does not depend on what the controller does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Reaches = Callable[[int, int], bool]
"""True if two brokers run and their link is whole. A broker that runs reaches itself."""


class Quorum:
    """The voters and their leader. `leader` None: there is no controller."""

    def __init__(self, voters: Iterable[int], *, fetch_timeout_ms: int) -> None:
        self.voters = sorted(voters)
        self.leader: int | None = self.voters[0]
        self.epoch = 1
        self._fetch_timeout_ms = fetch_timeout_ms
        self._gives_up_ms: int | None = None

    def next_deadline(self) -> int | None:
        """The instant at which `tick` has something to do."""
        return self._gives_up_ms

    def look(self, reaches: Reaches, now: int) -> None:
        """Something about hosts or links changed: begin to wait for a lost leader, or stop
        waiting."""
        if self.leader is not None and self._has_majority(self.leader, reaches):
            self._gives_up_ms = None
        elif self._gives_up_ms is None:
            self._gives_up_ms = now + self._fetch_timeout_ms

    def tick(self, reaches: Reaches, now: int) -> bool:
        """Elect, if the time is over; whether the leader is another one now."""
        if self._gives_up_ms is None or now < self._gives_up_ms:
            return False
        return self._elect(reaches)

    def resign(self, reaches: Reaches) -> bool:
        """The leader stops in good order: elect another one at once. The leader must count as
        unreachable already."""
        return self._elect(reaches)

    def can_act(self, reaches: Reaches) -> bool:
        """True if there is a leader that can write to the metadata log now."""
        return self.leader is not None and self._has_majority(self.leader, reaches)

    def _elect(self, reaches: Reaches) -> bool:
        former = self.leader
        self.leader = next(
            (node for node in self.voters if self._has_majority(node, reaches)), None
        )
        self._gives_up_ms = None  # without a majority `look` waits anew when something heals
        if self.leader is not None and self.leader != former:
            self.epoch += 1
        return self.leader != former

    def _has_majority(self, node: int, reaches: Reaches) -> bool:
        return 2 * sum(reaches(node, other) for other in self.voters) > len(self.voters)
