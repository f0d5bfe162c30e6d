"""The verbs of a cluster as methods: each builds the data of `cluster`, has it carried out, and can
be undone.

with kafka.stop_broker(2, how="crash"):      # started again at the end of the block
    ...
"""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from .waits.processing import ProcessingKit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .cluster import How, Verb


class Done:
    """A verb that was carried out. `undo` carries its inverse out, once; as a context manager it
    does so at the end of the block."""

    def __init__(self, verb: Verb, control: Callable[[Verb], Verb | None]) -> None:
        self.verb = verb
        self.inverse = control(verb)
        self._control = control

    def undo(self) -> None:
        """Bring the cluster back to where it was, as far as Kafka can go back. Nothing if there is
        no inverse, or it was done."""
        inverse, self.inverse = self.inverse, None
        if inverse is not None:
            self._control(inverse)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.undo()

    def __repr__(self) -> str:
        return f"<done: {self.verb}>"


class ClusterKit(ProcessingKit):
    """What a test can do to the brokers of an emulator that has several. Each raises ClusterError
    for what cannot be done."""

    if TYPE_CHECKING:  # the emulator's own

        def control(self, verb: Verb) -> Verb | None: ...

    def stop_broker(self, broker: int, how: How = "controlled") -> Done:
        """Stop a broker: "controlled" (its leaders move first), "crash" (as SIGKILL) or "pause" (as
        SIGSTOP)."""
        from .cluster import StopBroker

        return Done(StopBroker(broker, how), self.control)

    def start_broker(self, broker: int) -> Done:
        """Start a stopped broker, or let a paused one go on."""
        from .cluster import StartBroker

        return Done(StartBroker(broker), self.control)

    def move_leader(self, topic: str, partition: int, to: int) -> Done:
        """Let another replica in sync lead a partition."""
        from .cluster import MoveLeader

        return Done(MoveLeader(topic, partition, to), self.control)

    def move_coordinator(self, group: str, to: int) -> Done:
        """Let another broker coordinate a group."""
        from .cluster import MoveCoordinator

        return Done(MoveCoordinator(group, to), self.control)

    def reassign_partition(
        self, topic: str, partition: int, replicas: Sequence[int] | None = ()
    ) -> Done:
        """Let a partition move to these brokers, preferred leader first; without any, one that
        lacks it takes its leader's place; None cancels a move that is under way."""
        from .cluster import ReassignPartition

        return Done(
            ReassignPartition(topic, partition, None if replicas is None else tuple(replicas)),
            self.control,
        )

    def fence_broker(self, broker: int) -> Done:
        """Let the controller fence a broker: it leads nothing."""
        from .cluster import FenceBroker

        return Done(FenceBroker(broker), self.control)

    def cut_link(self, one: int, other: int) -> Done:
        """Let nothing pass between two brokers."""
        from .cluster import CutLink

        return Done(CutLink(one, other), self.control)

    def cut_client(self, client_id: str, broker: int) -> Done:
        """Let nothing pass between a client, known by its client id, and a broker; its connections
        stay open."""
        from .cluster import CutClient

        return Done(CutClient(client_id, broker), self.control)

    def jump_clock(self, broker: int, by_ms: int) -> Done:
        """Let the wall clock of a broker's host jump so many milliseconds, negative ones back: its
        timers go on as they were."""
        from .cluster import JumpClock

        return Done(JumpClock(broker, by_ms), self.control)

    def slow_load(self, broker: int, load_ms: int) -> Done:
        """Let a broker's coordinators take so long to load."""
        from .cluster import SlowLoad

        return Done(SlowLoad(broker, load_ms), self.control)

    def slow_follower(
        self, broker: int, *, delay_ms: int = 0, bytes_per_second: int | None = None
    ) -> Done:
        """Let a broker follow its leaders late and slowly."""
        from .cluster import SlowFollower

        return Done(SlowFollower(broker, delay_ms, bytes_per_second), self.control)
