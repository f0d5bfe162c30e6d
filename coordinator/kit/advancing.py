"""Jumps of the clock, from deadline to deadline, for clients that live in real time.

Everything that is due at a deadline happens there, as it would have by itself. A member that
would have sent heartbeats meanwhile does not expire: its session is prolonged by as much. A
member that has no connection, is paused, or is listed as silent can expire. If a rebalance
begins on the way, the living members get a bounded real time to answer before the clock goes on.
Each step is taken between two requests; the caller does the waiting (`Kit.advance`).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from coordinator.core.shards.by_hand import postpone_session

from .in_process_requests import ControlError

if TYPE_CHECKING:
    from .session import KitSession
    from .thread_calls import Clock


class Advance:
    """One jump of the clock, in steps. `silent`: members, by any of their names, that send
    nothing meanwhile, so that their sessions can expire."""

    def __init__(self, session: KitSession, duration_ms: int, silent: Collection[str]) -> None:
        self._session = session
        self._clock: Clock = session.clock
        self._target = session.now() + duration_ms
        self._silent = silent
        members = [
            member for group_id in session.group_ids() for member in session.group(group_id).members
        ]
        for name in silent:
            if not any(
                _is_called(name, member.member_id, member.client_id, member.instance_id)
                for member in members
            ):
                raise ControlError(
                    f"silent: no member is called {name!r}; there are: {', '.join(m.name for m in members) or 'none'}"
                )

    def step(self) -> bool:
        """Go on to the next deadline, or to the end; return True at the end."""
        now = self._clock.now()
        left = max(self._target - now, 0)
        living = self._living()
        self._put_off(living, left)  # what falls due next is not the session of somebody who lives
        deadline = self._clock.next_deadline()
        at = self._target if deadline is None else min(max(deadline, now), self._target)
        self._put_off(living, at - now - left)
        if at > now:
            self._clock.jump(at - now)
        self._clock.tick()
        return self._clock.now() >= self._target

    def awaited(self) -> tuple[str, ...]:
        """Return the living members that a rebalance waits for now, each as a phrase for a
        message."""
        return tuple(
            f"{member.name} of group {group_id}"
            for group_id in self._session.group_ids()
            for group in (self._session.group(group_id),)
            if group.state in ("PreparingRebalance", "CompletingRebalance")
            for member in group.members
            if member.connected
            and member.waits_for is None
            and not self._is_silent(member.member_id, member.client_id, member.instance_id)
        )

    def _living(self) -> list[tuple[str, str]]:
        return [
            (group_id, member.member_id)
            for group_id in self._session.group_ids()
            for member in self._session.group(group_id).members
            if member.connected
            and not self._is_silent(member.member_id, member.client_id, member.instance_id)
        ]

    def _is_silent(self, member_id: str, client_id: str, instance_id: str | None) -> bool:
        paused = member_id in self._session.paused()
        return paused or any(
            _is_called(name, member_id, client_id, instance_id) for name in self._silent
        )

    def _put_off(self, living: Collection[tuple[str, str]], by_ms: int) -> None:
        for group_id, member_id in living:
            shard = self._session.serving(group_id).coordinator.shard_of(group_id)
            if shard is not None:
                postpone_session(shard, group_id, member_id, by_ms)


def _is_called(name: object, member_id: str, client_id: str, instance_id: str | None) -> bool:
    return isinstance(name, str) and (
        member_id.startswith(name) or name in (client_id, instance_id)
    )
