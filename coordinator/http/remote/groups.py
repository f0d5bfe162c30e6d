"""A group at the other end of a control port."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...control import arguments
from ...control.group_properties import GroupLooks
from ...control.snapshots import GroupSnapshot, TopicPartition, from_plain
from ...control.thread_calls import DEFAULT_TIMEOUT_S
from ...control.waits.expectations import GroupExpectation, partition_of
from ..client import path_of
from .calls import Caller
from .faults import RemoteFault

if TYPE_CHECKING:
    from ...control.verification import Verification
    from .peers import RemotePeer


class RemoteGroup(GroupLooks):
    """As `GroupHandle`."""

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
        self._path = path_of("groups", group_id)

    def snapshot(self) -> GroupSnapshot:
        """Everything about the group at this instant."""
        return from_plain(self._caller.get(self._path))

    @property
    def rebalances(self) -> list[dict[str, Any]]:
        """See `GroupLooks.rebalances`."""
        told: list[dict[str, Any]] = self._caller.get(f"{self._path}/rebalances")["rebalances"]
        return told

    def wait(
        self,
        *,
        state: str | None = None,
        members: int | None = None,
        generation_above: int | None = None,
        assigned: str | Mapping[str, Iterable[TopicPartition | str]] | None = None,
        committed: Mapping[TopicPartition, int] | None = None,
        lag: int | None = None,
        acted: bool | None = None,
        heard: bool | None = None,
        timeout: float = DEFAULT_TIMEOUT_S,
    ) -> GroupSnapshot:
        """See `GroupHandle.wait`."""
        arguments.seconds("timeout", timeout)
        expected = GroupExpectation(
            state=state,
            members=members,
            generation_above=generation_above,
            assigned=assigned,
            committed=committed,
            lag=lag,
            acted=acted,
            heard=heard,
        )
        wanted: Any = expected.assigned
        if isinstance(wanted, Mapping):
            wanted = {
                name: [row if isinstance(row, str) else f"{row[0]}-{row[1]}" for row in rows]
                for name, rows in wanted.items()
            }
        body = {
            "state": state,
            "members": members,
            "generation_above": generation_above,
            "assigned": wanted,
            "lag": lag,
            "acted": acted,
            "heard": heard,
            "committed": None if committed is None else _named(committed),
            "timeout": timeout,
        }
        return from_plain(self._caller.post(f"{self._path}/wait", body))

    def verify(self, *, since: int = 0) -> Verification:
        """See `GroupHandle.verify`."""
        return self._verify(self.group_id, since=since)

    def peer(self, topics: Iterable[str] | None = None, **options: Any) -> RemotePeer:
        """See `GroupHandle.peer`."""
        return self._peer(self.group_id, topics, **options)

    def remove(self, name: str, reason: str = "removed by a test") -> None:
        """See `GroupHandle.remove`."""
        self._caller.post(self._of_member(name, "remove"), {"reason": reason})

    def expire(self, name: str) -> None:
        """See `GroupHandle.expire`."""
        self._caller.post(self._of_member(name, "expire"))

    def rebalance(self, reason: str = "a test asked for it") -> None:
        """See `GroupHandle.rebalance`."""
        self._caller.post(f"{self._path}/rebalance", {"reason": reason})

    def fence(self, name: str) -> None:
        """See `GroupHandle.fence`."""
        self._caller.post(self._of_member(name, "fence"))

    def lose(self, name: str) -> RemoteFault:
        """See `GroupHandle.lose`."""
        return RemoteFault(self._caller, self._caller.post(self._of_member(name, "lose")))

    def _of_member(self, name: str, verb: str) -> str:
        arguments.text("member", name)
        return self._path + path_of("members", name, verb)

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """See `GroupHandle.commit`."""
        self._caller.post(f"{self._path}/commit", {"offsets": _named(offsets)})

    def delete(self) -> None:
        """See `GroupHandle.delete`."""
        self._caller.delete(self._path)


def _named(offsets: Mapping[TopicPartition, int]) -> dict[str, int]:
    arguments.mapping("offsets", offsets, '{("orders", 0): 10}')
    rows = ((partition_of(key), offset) for key, offset in offsets.items())
    return {f"{topic}-{index}": offset for (topic, index), offset in rows}
