"""A simulated member at the other end of a control port."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from assignors import TopicPartition

from ...control.thread_calls import DEFAULT_TIMEOUT_S
from ..client import path_of
from ..port import NotThereError
from .calls import Caller


class RemotePeer:
    """As `PeerHandle`, without what is Python code: its listener. Leaves at the end of `with`."""

    def __init__(self, caller: Caller, shown: Mapping[str, Any]) -> None:
        self._caller = caller
        self._path = path_of("peers", shown["peer"])
        self._client_id = str(shown["client_id"])

    def _now(self) -> Any:
        return self._caller.get(self._path)

    @property
    def client_id(self) -> str:
        """Its client.id."""
        return self._client_id

    @property
    def owned(self) -> tuple[TopicPartition, ...]:
        """Its partitions."""
        rows = (text.rpartition("-") for text in self._now()["owned"])
        return tuple(TopicPartition(topic, int(index)) for topic, _, index in rows)

    @property
    def generation(self) -> int:
        """The generation it is in; -1: none."""
        return int(self._now()["generation"])

    @property
    def member_id(self) -> str:
        """ "" until it has one."""
        return str(self._now()["member_id"])

    @property
    def is_leader(self) -> bool:
        """Did it assign in this generation?"""
        return bool(self._now()["is_leader"])

    @property
    def paused(self) -> bool:
        """Does it stand still?"""
        return bool(self._now()["paused"])

    @property
    def ended(self) -> bool:
        """Has it left, or crashed?"""
        try:
            return bool(self._now()["ended"])
        except NotThereError:
            return True

    def _do(self, verb: str, body: Mapping[str, Any] | None = None) -> None:
        self._caller.post(f"{self._path}/{verb}", body)

    def pause(self) -> None:
        """See `PeerHandle.pause`."""
        self._do("pause")

    def stall(self) -> None:
        """See `PeerHandle.stall`."""
        self._do("stall")

    def resume(self) -> None:
        """See `PeerHandle.resume`."""
        self._do("resume")

    def rebalance(self) -> None:
        """See `PeerHandle.rebalance`."""
        self._do("rebalance")

    def seek(self, topic: str, partition: int, offset: int) -> None:
        """See `PeerHandle.seek`."""
        self._do("seek", {"topic": topic, "partition": partition, "offset": offset})

    def crash(self) -> None:
        """See `PeerHandle.crash`."""
        self._do("crash")

    def wait_stable(
        self,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        *,
        members: int | None = None,
        after_generation: int = -1,
    ) -> Self:
        """See `PeerHandle.wait_stable`."""
        self._do(
            "wait", {"timeout": timeout_s, "members": members, "after_generation": after_generation}
        )
        return self

    def wait_commit(self) -> None:
        """Commit all positions, and wait."""
        self._do("commit")

    def stop(self, *, leave: bool | None = None) -> None:
        """Leave the group and end. A peer that has ended is left as it is."""
        with suppress(NotThereError):
            self._do("stop", {"leave": leave})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
