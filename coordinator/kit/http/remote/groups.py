"""A group at the other end of a control port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from coordinator.base.keyword_errors import nearest_keywords

from ... import arguments
from ...group.handle import GroupHandle
from ...group.properties import GroupLooks
from ...views.group_snapshots import GroupSnapshot, from_plain
from ...waits.expectations import GroupExpectation, partition_of
from .calls import Caller, far
from .faults import RemoteFault

if TYPE_CHECKING:
    from ...verifying.verification import Verification
    from .peers import RemotePeer


def _expected(timeout: float, **words: Any) -> Mapping[str, Any]:
    """Check the arguments of `wait` and return those that the operation takes in another form."""
    arguments.seconds("timeout", timeout)
    return {"assigned": GroupExpectation(**words).assigned}


def _member(name: object, **_: object) -> None:
    arguments.text("member", name)


def _offsets(offsets: Mapping[Any, int], timeout: object) -> None:
    arguments.seconds("timeout", timeout)
    arguments.mapping("offsets", offsets, '{("orders", 0): 10}')
    for key in offsets:
        partition_of(key)


def _fault(group: RemoteGroup, shown: Mapping[str, Any]) -> RemoteFault:
    return RemoteFault(group._caller, shown)


@nearest_keywords
class RemoteGroup(GroupLooks):
    """A group like `GroupHandle`."""

    def __init__(
        self,
        caller: Caller,
        group_id: str,
        verify: Callable[..., Verification],
        peer: Callable[..., RemotePeer],
    ) -> None:
        self._caller = caller
        self._verify = verify
        self._peer = peer
        self.group_id = group_id
        self._at = {"group": group_id}

    def snapshot(self) -> GroupSnapshot:
        """Return the whole state of the group at this instant."""
        return from_plain(self._caller("group_describe", **self._at))

    @property
    def rebalances(self) -> list[dict[str, Any]]:
        """See `GroupLooks.rebalances`."""
        told: list[dict[str, Any]] = self._caller("group_rebalances", **self._at)["rebalances"]
        return told

    def obstacles(self) -> list[str]:
        """See `GroupHandle.obstacles`."""
        return list(self._caller("obstacles", **self._at)["obstacles"])

    wait = far(
        GroupHandle.wait, "group_wait", check=_expected, read=lambda _, shown: from_plain(shown)
    )
    remove = far(GroupHandle.remove, "group_remove", check=_member)
    expire = far(GroupHandle.expire, "group_expire", check=_member)
    fence = far(GroupHandle.fence, "group_fence", check=_member)
    lose = far(GroupHandle.lose, "group_lose", check=_member, read=_fault)
    rebalance = far(GroupHandle.rebalance, "group_rebalance")
    commit = far(GroupHandle.commit, "group_commit", check=_offsets)
    delete = far(GroupHandle.delete, "group_delete")

    def verify(self, *, since: int = 0) -> Verification:
        """See `GroupHandle.verify`."""
        return self._verify(self.group_id, since=since)

    def peer(self, topics: Iterable[str] | None = None, **options: Any) -> RemotePeer:
        """See `GroupHandle.peer`."""
        return self._peer(self.group_id, topics, **options)
