"""A share consumer at the other end of a control port."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from assignors import TopicPartition

from ...members.live.sharing import SharePeerHandle
from ..plain import partition
from ..port import NotThereError
from .calls import Caller, Ends, Look, far


def _nothing(_: object, __: object) -> None:
    """What most orders return."""


def _offset(text: str) -> tuple[str, int, int]:
    where, _, offset = text.rpartition("@")
    return (*partition(where), int(offset))


class RemoteSharePeer(Ends):
    """As `SharePeerHandle`; `done` has its rows as they are told. Leaves at the end of `with`."""

    def __init__(self, caller: Caller, shown: Mapping[str, Any]) -> None:
        self._caller = caller
        self._at = {"peer_id": shown["peer_id"]}
        self._client_id = str(shown["client_id"])

    def now(self) -> Any:
        """As it is told now."""
        return self._caller("share_peer_describe", **self._at)

    @property
    def client_id(self) -> str:
        """Its client.id."""
        return self._client_id

    assigned = Look(
        lambda rows: tuple(TopicPartition(*partition(row)) for row in rows),
        SharePeerHandle.assigned,
    )
    in_hand = Look(lambda rows: [_offset(row) for row in rows], SharePeerHandle.in_hand)
    renewed = Look(int, SharePeerHandle.renewed)
    done = Look(list, SharePeerHandle.done)
    member_id = Look(str, SharePeerHandle.member_id)

    @property
    def ended(self) -> bool:
        """Has it left, or crashed?"""
        try:
            return bool(self.now()["ended"])
        except NotThereError:
            return True

    pause = far(SharePeerHandle.pause, "share_peer_pause", read=_nothing)
    stall = far(SharePeerHandle.stall, "share_peer_stall", read=_nothing)
    resume = far(SharePeerHandle.resume, "share_peer_resume", read=_nothing)
    crash = far(SharePeerHandle.crash, "share_peer_crash")

    def stop(self) -> None:
        """Give everything back, leave and end. One that has ended is left as it is."""
        with suppress(NotThereError):
            self._caller("share_peer_stop", **self._at)
