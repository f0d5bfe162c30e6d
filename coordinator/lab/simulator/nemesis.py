"""Carries out a scenario's faults at their times, and undoes them at theirs.

If several pauses or cuts of one member overlap, it goes on when the last of them is over. Verbs
for the cluster and faults of requests are those of `coordinator.kit`; in addition a member's
host can be paused, its links cut, its connections reset, and its wall clock moved. A fault that
cannot be carried out at its time is logged as `FaultSkipped`. Churn is in `churn.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from coordinator.events.faults import (
    FaultSkipped,
    MemberHealed,
    MemberResumed,
    MemberSpedUp,
    RequestFaultBegan,
    RequestFaultEnded,
)
from coordinator.kit import cluster
from coordinator.server.cluster_runtime import ClusterError
from coordinator.verbs.members import (
    MEMBER_VERBS,
    CutMember,
    JumpMemberClock,
    PauseMember,
    ResetMember,
    SlowMember,
)

from .chance import Draws
from .files.fault_checks import BROKERS
from .files.model import FaultPlan, Scenario
from .files.reading import Plain
from .files.wires_keys import CUT_ZONE
from .links import Link
from .whom import brokers, clients

if TYPE_CHECKING:
    from .clients.client_hosts import ClientHosts

Undo = Callable[[], None]


class Nemesis:
    """Puts a scenario's faults on the agenda of a world, simulated or live."""

    def __init__(self, world: ClientHosts, scenario: Scenario) -> None:
        self._world = world
        self._kinds = [
            *(kind.name for kind in scenario.members),
            *(kind.name for kind in scenario.producers),
        ]
        self._pauses: Counter[str] = Counter()
        """The number of pauses of each member's host that last now."""
        self._reset_meanwhile: set[str] = set()
        """Paused hosts whose connections were reset."""
        self.over_at = 0
        """The instant at which the last fault is undone or, if it is not, began."""
        for number, plan in enumerate(scenario.faults):
            draws = Draws(world.seed, "fault", str(number))
            if plan.trigger is None:
                self._plan(plan, plan.at_ms, draws, "")
            else:
                world.triggers.wait(
                    plan.trigger,
                    lambda who, plan=plan, draws=draws: self._plan(plan, world.now, draws, who),  # type: ignore[misc]
                    f"{plan.line}: this fault",
                )

    def _plan(self, plan: FaultPlan, at: int, draws: Draws, subject: str) -> None:
        for turn in range(plan.times):
            lasts = (
                None
                if plan.lasts_ms is None
                else draws.between(plan.lasts_ms, plan.longest_ms or plan.lasts_ms)
            )
            begins = at + turn * plan.every_ms
            self._world.at(begins, lambda lasts=lasts: self._begin(plan, lasts, subject))  # type: ignore[misc]
            self.over_at = max(self.over_at, begins + (lasts or 0))

    def _begin(self, plan: FaultPlan, lasts: int | None, subject: str) -> None:
        world = self._world
        undo: list[Undo] = []
        try:
            for each in self._each(plan, subject):
                undone = self._carry_out(each)
                if undone is not None:
                    undo.append(undone)
        except ClusterError as error:
            world.log.append(FaultSkipped(str(error)), at_ms=world.now)
            if not undo:
                return
        world.settle()
        if lasts is not None and undo:
            world.at(world.now + lasts, lambda: self._undo(undo))

    def _each(self, plan: FaultPlan, subject: str) -> Iterator[FaultPlan]:
        """Yield the fault once for each member or broker that it names."""
        if plan.member_verb is not None:
            verb, fields = plan.member_verb
            for name in clients(self._world, fields["member"], subject, self._kinds):
                yield replace(plan, member_verb=(verb, {**fields, "member": name}))
        elif plan.later is not None and plan.later[0] == CUT_ZONE:
            yield from self._cut_zone(plan, plan.later[1]["zone"])
        elif plan.later is not None:
            verb, fields = plan.later
            named = [key for key in BROKERS if key in fields]
            for ids in product(*(list(brokers(self._world, fields[key])) for key in named)):
                found: Plain = dict(zip(named, ids, strict=True))
                yield replace(plan, verb=cluster.from_plain({"verb": verb, **fields, **found}))
        else:
            yield plan

    def _cut_zone(self, plan: FaultPlan, zone: str) -> Iterator[FaultPlan]:
        world = self._world
        assert world.wires is not None
        clients, links = world.wires.parted(zone, list(world.members), world.nodes())
        for one, other in links:
            yield replace(plan, later=None, verb=cluster.CutLink(one, other))
        for name, node in clients:
            fields: Plain = {"member": name, "broker": node}
            yield replace(plan, later=None, member_verb=(CutMember.__name__, fields))

    def _undo(self, undo: list[Undo]) -> None:
        for each in reversed(undo):
            try:
                each()
            except ClusterError as error:
                self._log(FaultSkipped(str(error)))
        self._world.settle()

    def _carry_out(self, plan: FaultPlan) -> Undo | None:
        world = self._world
        if plan.verb is not None:
            inverse = world.carry_out(plan.verb)
            return None if inverse is None else lambda: _ignore(world.carry_out(inverse))
        if plan.member_verb is not None:
            return self._to_member(*plan.member_verb)
        if plan.acls is not None:
            assert world.rights is not None
            return world.rights.change(plan.acls)
        assert plan.request is not None
        active = world.faults.add(plan.request)
        self._log(RequestFaultBegan(str(plan.request)))

        def end() -> None:
            self._log(RequestFaultEnded(str(plan.request)))
            world.faults.remove(active)
            world.faults.release(active, world.now, None)

        return end

    def _to_member(self, verb: str, fields: Plain) -> Undo | None:
        world, name = self._world, fields["member"]
        if verb == JumpMemberClock.__name__:
            self._jump_clock(name, fields["by_ms"])
            return lambda: self._jump_clock(name, -fields["by_ms"])
        made = MEMBER_VERBS[verb].kind(**fields)
        self._log(made)
        if isinstance(made, ResetMember):
            if name in world.frozen:  # it notices when it goes on
                self._reset_meanwhile.add(name)
            else:
                self._reset(name)
            return None
        if isinstance(made, PauseMember):
            self._pauses[name] += 1
            world.freeze(name)
            return lambda: self._undone(MemberResumed(name), None, lambda: self._resume(name))
        broker, direction = fields.get("broker"), fields.get("direction")
        links = world.links_to(name, broker, direction or "both")
        if isinstance(made, SlowMember):
            slowed = [(link, link.slow_down(made.bytes_per_second)) for link in links]
            return lambda: self._undone(
                MemberSpedUp(name, direction), broker, lambda: _speed_up(slowed)
            )
        for link in links:
            link.cut()

        def heal() -> None:
            for link in links:
                link.heal()

        return lambda: self._undone(MemberHealed(name, direction), broker, heal)

    def _reset(self, name: str) -> None:
        member = self._world.members.get(name)
        if member is not None:
            member.reset_connections()

    def _resume(self, name: str) -> None:
        self._pauses[name] -= 1
        if not self._pauses[name]:
            self._world.thaw(name)
            if name in self._reset_meanwhile:
                self._reset_meanwhile.discard(name)
                self._reset(name)

    def _jump_clock(self, name: str, by_ms: int) -> None:
        self._world.jump_clock(name, by_ms)
        self._log(JumpMemberClock(member=name, by_ms=by_ms))

    def _undone(
        self, event: MemberHealed | MemberSpedUp | MemberResumed, broker: int | None, undo: Undo
    ) -> None:
        self._world.log.append(event, at_ms=self._world.now, broker=broker)
        undo()

    def _log(self, event: object) -> None:
        self._world.log.append(event, at_ms=self._world.now)


def _speed_up(slowed: list[tuple[Link, object]]) -> None:
    for link, what in slowed:
        link.speed_up(what)


def _ignore(_: object) -> None:
    """Ignore the inverse of an inverse."""
