"""Simulated members and share consumers at the other end of a control port."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from assignors import TopicPartition
from coordinator.members.live import PeerHandle
from coordinator.members.live.sharing import SharePeerHandle

from ...thread_calls import DEFAULT_TIMEOUT_S
from ..json_values import partition
from ..port import NotThereError
from .calls import Caller, Ends, Look, far


def _nothing(_: object, __: object) -> None:
    """Read the answer of an operation that returns nothing."""


class _OneOfOurs(Ends):
    """A member that was started over HTTP. The names of its operations begin with `_kind`."""

    _kind = "peer"

    def __init__(self, caller: Caller, shown: Mapping[str, Any]) -> None:
        self._caller = caller
        self._at = {"peer_id": shown["peer_id"]}
        self._client_id = str(shown["client_id"])

    def now(self) -> Any:
        """Return the member's state now, as the port describes it."""
        return self._caller(f"{self._kind}_describe", **self._at)

    @property
    def client_id(self) -> str:
        """The client.id of the member."""
        return self._client_id

    @property
    def ended(self) -> bool:
        """Return True if the member has left or crashed."""
        try:
            return bool(self.now()["ended"])
        except NotThereError:
            return True


class RemotePeer(_OneOfOurs):
    """A peer like `PeerHandle`, without a listener. It leaves its group at the end of a `with`
    block."""

    owned = Look(
        lambda rows: tuple(TopicPartition(*partition(row)) for row in rows), PeerHandle.owned
    )
    generation = Look(int, PeerHandle.generation)
    member_id = Look(str, PeerHandle.member_id)
    is_leader = Look(bool, PeerHandle.is_leader)
    paused = Look(bool, PeerHandle.paused)

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
        """Commit all positions and wait for the response."""
        self._caller("peer_commit", **self._at)

    def stop(self, *, leave: bool | None = None) -> None:
        """Leave the group and end. Does nothing if the peer has ended."""
        with suppress(NotThereError):
            self._caller("peer_stop", leave=leave, **self._at)


def _offset(text: str) -> tuple[str, int, int]:
    where, _, offset = text.rpartition("@")
    return (*partition(where), int(offset))


class RemoteSharePeer(_OneOfOurs):
    """A consumer of a share group, with the properties of `SharePeerHandle`; `done` has JSON
    objects. It leaves its group at the end of a `with` block."""

    _kind = "share_peer"

    assigned = Look(
        lambda rows: tuple(TopicPartition(*partition(row)) for row in rows),
        SharePeerHandle.assigned,
    )
    in_hand = Look(lambda rows: [_offset(row) for row in rows], SharePeerHandle.in_hand)
    renewed = Look(int, SharePeerHandle.renewed)
    done = Look(list, SharePeerHandle.done)
    member_id = Look(str, SharePeerHandle.member_id)

    pause = far(SharePeerHandle.pause, "share_peer_pause", read=_nothing)
    stall = far(SharePeerHandle.stall, "share_peer_stall", read=_nothing)
    resume = far(SharePeerHandle.resume, "share_peer_resume", read=_nothing)
    crash = far(SharePeerHandle.crash, "share_peer_crash")

    def stop(self) -> None:
        """Release all records, leave and end. Does nothing if the consumer has ended."""
        with suppress(NotThereError):
            self._caller("share_peer_stop", **self._at)
