"""A simulated member at the other end of a control port."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from assignors import TopicPartition

from ...control.thread_calls import DEFAULT_TIMEOUT_S
from ...members.live import PeerHandle
from ..plain import partition
from ..port import NotThereError
from .calls import Caller, Ends, Look, far


def _nothing(_: object, __: object) -> None:
    """What most orders return."""


class RemotePeer(Ends):
    """As `PeerHandle`, without what is Python code: its listener. Leaves at the end of `with`."""

    def __init__(self, caller: Caller, shown: Mapping[str, Any]) -> None:
        self._caller = caller
        self._at = {"peer_id": shown["peer_id"]}
        self._client_id = str(shown["client_id"])

    def now(self) -> Any:
        """As it is told now."""
        return self._caller("peer_describe", **self._at)

    @property
    def client_id(self) -> str:
        """Its client.id."""
        return self._client_id

    owned = Look(
        lambda rows: tuple(TopicPartition(*partition(row)) for row in rows), PeerHandle.owned
    )
    generation = Look(int, PeerHandle.generation)
    member_id = Look(str, PeerHandle.member_id)
    is_leader = Look(bool, PeerHandle.is_leader)
    paused = Look(bool, PeerHandle.paused)

    @property
    def ended(self) -> bool:
        """Has it left, or crashed?"""
        try:
            return bool(self.now()["ended"])
        except NotThereError:
            return True

    pause = far(PeerHandle.pause, "peer_pause", read=_nothing)
    stall = far(PeerHandle.stall, "peer_stall", read=_nothing)
    resume = far(PeerHandle.resume, "peer_resume", read=_nothing)
    rebalance = far(PeerHandle.rebalance, "peer_rebalance", read=_nothing)
    seek = far(PeerHandle.seek, "peer_seek", read=_nothing)
    crash = far(PeerHandle.crash, "peer_crash")

    def wait_stable(
        self,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        *,
        members: int | None = None,
        after_generation: int = -1,
    ) -> Self:
        """See `PeerHandle.wait_stable`."""
        words = {"members": members, "after_generation": after_generation}
        self._caller("peer_wait", timeout=timeout_s, **words, **self._at)
        return self

    def wait_commit(self) -> None:
        """Commit all positions, and wait."""
        self._caller("peer_commit", **self._at)

    def stop(self, *, leave: bool | None = None) -> None:
        """Leave the group and end. A peer that has ended is left as it is."""
        with suppress(NotThereError):
            self._caller("peer_stop", leave=leave, **self._at)
