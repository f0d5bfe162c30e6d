"""Election of the controller: the leader of a quorum of all brokers, while a majority reaches it
(KIP-500, KIP-595).

A leader that loses its majority stays until controller.quorum.fetch.timeout.ms has passed; then
the broker with the lowest id among those that reach a majority takes over, or there is no
controller. A controlled shutdown hands over at once. The caller tells which brokers reach each
other. Does not know what the controller does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

Reaches = Callable[[int, int], bool]
"""A function that tells whether two brokers run and their link is not cut. A running broker reaches
itself."""


class Quorum:
    """The voters and their leader. `leader` None: there is no controller."""

    def __init__(self, voters: Iterable[int], *, fetch_timeout_ms: int) -> None:
        self.voters = sorted(voters)
        self.leader: int | None = self.voters[0]
        self.epoch = 1
        self._fetch_timeout_ms = fetch_timeout_ms
        self._gives_up_ms: int | None = None

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        return self._gives_up_ms

    def look(self, reaches: Reaches, now: int) -> None:
        """Follow a change of hosts or links: start the timeout if the leader lost its majority,
        else stop it.
        """
        if self.leader is not None and self._has_majority(self.leader, reaches):
            self._gives_up_ms = None
        elif self._gives_up_ms is None:
            self._gives_up_ms = now + self._fetch_timeout_ms

    def tick(self, reaches: Reaches, now: int) -> bool:
        """Elect a leader if the timeout is over. Return whether the leader changed."""
        if self._gives_up_ms is None or now < self._gives_up_ms:
            return False
        return self._elect(reaches)

    def resign(self, reaches: Reaches) -> bool:
        """Elect another leader at once, for a controlled shutdown. The leader must be unreachable
        already.
        """
        return self._elect(reaches)

    def can_act(self, reaches: Reaches) -> bool:
        """Return True if there is a leader that a majority reaches."""
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
