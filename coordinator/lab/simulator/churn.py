"""Carries out a scenario's churn: members that join, leave and stall, each at an instant that is
drawn before the run begins.

Each piece of churn draws from a sequence of its own, so that a change of one piece, or of a
setting of the members, changes no other. Faults are in `nemesis.py`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from coordinator.events.faults import FaultSkipped
from coordinator.events.members import ApplicationResumed, ApplicationStalled
from coordinator.members.requests import CLIENT_VERSIONS
from coordinator.server.cluster_runtime import ClusterError

from .chance import Draws
from .clients.member import SimulatedMember
from .clients.producer import SimulatedProducer
from .clients.share_member import SimulatedShareMember
from .files.model import Kind, ProducerKind, Scenario, members_of, trigger_of
from .files.reading import Plain
from .files.share_kinds import ShareKind
from .whom import clients, is_word, listed

if TYPE_CHECKING:
    from .clients.client_hosts import ClientHosts

QUIET_END_MS: Final = 120_000
"""Churn ends this long before the end of a run, in ms, unless `until` says otherwise."""
LIVED_MS: Final = 600_000
"""A process that lived so long is restarted as after its first death."""
_HOUR_MS = 3_600_000


def begins_at(scenario: Scenario, seed: int, number: int, now: int | None = None) -> int:
    """Return the instant at which a piece of churn, by its number from 0 on, happens first.
    `now`: the instant at which its trigger was seen."""
    churn = scenario.churn[number]
    draws = Draws(seed, "instant", f"{churn['kind']} {number}")
    return (churn["at"] if now is None else now) + draws.between(0, churn["within"])


class Churn:
    """Puts a scenario's members and churn on the agenda of a world."""

    def __init__(self, world: ClientHosts, scenario: Scenario) -> None:
        self._world = world
        self._scenario = scenario
        self._started: dict[str, int] = {}
        self._coming: Counter[str] = Counter()
        """Clients that are yet to start, at first or again after a restart, and how often."""
        self._lives: dict[str, tuple[int, int]] = {}
        """For each process that is restarted automatically: when it began last, and how often it
        has died before, each time soon after its start."""
        world.on_death = self._died
        self.over_at = 0
        """The instant at which the last piece of churn is over."""
        self._kinds: tuple[Kind, ...] = (*scenario.kinds, *scenario.producers)
        for kind in self._kinds:
            self._started[kind.name] = kind.count
            for name in members_of(kind):
                self._coming[name] += 1
                self._at(
                    Draws(world.seed, "start", name).between(*kind.start_ms), self._come, kind, name
                )
        for number, churn in enumerate(scenario.churn):
            draws = Draws(world.seed, f"churn {churn['kind']}", f"{churn['members']} {number}")
            trigger = trigger_of(churn)
            if trigger is None:
                at = begins_at(scenario, world.seed, number)
                self._plan(churn | {"at": at}, draws, "")
            else:
                what = (
                    f"{scenario.lines.get(f'churn {number}', scenario.name)}: churn {churn['kind']}"
                )
                world.triggers.wait(
                    trigger,
                    lambda who, churn=churn, draws=draws, number=number: self._plan(  # type: ignore[misc]
                        churn | {"at": begins_at(scenario, world.seed, number, world.now)},
                        draws,
                        who,
                    ),
                    what,
                )

    def _plan(self, churn: Plain, draws: Draws, subject: str) -> None:
        getattr(self, f"_{churn['kind']}")(churn | {"subject": subject}, draws)

    def _at(self, instant: int, action: object, *arguments: object) -> None:
        if instant <= self._scenario.duration_ms:
            self.over_at = max(self.over_at, instant)
            self._world.at(instant, lambda: action(*arguments))  # type: ignore[operator]

    # -- the kinds of churn

    def _poisson(self, churn: Plain, draws: Draws) -> None:
        until = (
            churn["until"]
            if churn["until"] is not None
            else self._scenario.duration_ms - QUIET_END_MS
        )
        for rate, action in (
            (churn["arrivals_per_hour"], self._arrive),
            (churn["departures_per_hour"], self._depart),
        ):
            at = churn["at"]
            while rate and (at := at + draws.exponential_ms(_HOUR_MS // rate)) <= until:
                self._at(at, action, self._kind(churn), churn["how"], draws.bits())

    def _rolling(self, churn: Plain, draws: Draws) -> None:
        names = members_of(self._kind(churn))
        step = churn["at_once"]
        for turn in range(0, len(names), step):
            at = churn["at"] + turn // step * churn["every"]
            for name in names[turn : turn + step]:
                goes = at + self._later(churn, name, turn)
                if churn.get("surge"):
                    self._at(goes, self._arrive, self._kind(churn), churn["how"], 0)
                    self._at(goes + churn["down"], self._stop, name, churn["how"])
                else:
                    self._go_and_come(self._kind(churn), name, goes, churn)

    def _restart(self, churn: Plain, draws: Draws) -> None:
        for turn in range(churn["times"]):
            at = churn["at"] + turn * churn["every"]
            if self._is_known_later(churn):
                self._at(at, self._restart_now, churn, turn)
                continue
            for name in self._whom(churn):
                goes = at + self._later(churn, name, turn)
                self._go_and_come(self._kind_of(name), name, goes, churn)

    def _restart_now(self, churn: Plain, turn: int) -> None:
        for name in self._found(churn):
            goes = self._world.now + self._later(churn, name, turn)
            self._go_and_come(self._kind_of(name), name, goes, churn)

    def _later(self, churn: Plain, name: str, turn: int) -> int:
        """Return by how many ms one of several members is later than its turn."""
        spread = churn["spread"]
        return spread and Draws(self._world.seed, "spread", f"{name} {turn}").between(0, spread)

    def _stall(self, churn: Plain, draws: Draws) -> None:
        for turn in range(churn["times"]):
            at = churn["at"] + turn * churn["every"]
            if self._is_known_later(churn):
                self._at(at, self._stall_now, churn)
                continue
            for name in self._whom(churn):
                self._stall_one(name, at, churn)

    def _stall_now(self, churn: Plain) -> None:
        for name in self._found(churn):
            self._stall_one(name, self._world.now, churn)

    def _stall_one(self, name: str, at: int, churn: Plain) -> None:
        self._at(at, self._set_polling, name, False)
        self._at(at + churn["lasts"], self._set_polling, name, True)

    def _scale(self, churn: Plain, draws: Draws) -> None:
        if churn["more"] or churn["fewer"]:
            self._at(churn["at"], self._scale_by, churn)
        else:
            self._at(churn["at"], self._scale_to, self._kind(churn), churn["to"], churn["how"])

    def _scale_by(self, churn: Plain) -> None:
        """Start or stop members to change their number by `more` or `fewer`, between `low` and
        `to`."""
        kind = self._kind(churn)
        there = len(
            self._known(kind, lambda name: name in self._world.members or self._coming[name] > 0)
        )
        if churn["more"]:
            to = max(min(there + churn["more"], churn["to"]), there)
        else:
            to = min(max(there - churn["fewer"], churn["low"]), there)
        self._scale_to(kind, to, churn["how"])

    def _waves(self, churn: Plain, draws: Draws) -> None:
        kind, low, high = self._kind(churn), churn["low"], churn["to"]
        steps = high - low
        for turn in range(churn["times"]):
            at = churn["at"] + turn * churn["every"]
            for step in range(
                steps
            ):  # a quarter of the time up, a quarter down, and rest after either
                self._at(
                    at + step * churn["every"] // 4 // steps,
                    self._scale_to,
                    kind,
                    low + step + 1,
                    churn["how"],
                )
                down = at + churn["every"] // 2 + step * churn["every"] // 4 // steps
                self._at(down, self._scale_to, kind, high - step - 1, churn["how"])

    # -- what happens

    def _go_and_come(self, kind: Kind, name: str, at: int, churn: Plain) -> None:
        if churn.get("becomes") is not None:
            kind = next(each for each in self._kinds if each.name == churn["becomes"])
        if churn.get("overlap"):
            self._at(at, self._come_beside, kind, name, churn)
            return
        self._at(at, self._go, name, churn["how"])
        self._at(at + churn["down"], self._come, kind, name)

    def _come_beside(self, kind: Kind, name: str, churn: Plain) -> None:
        """Start a process with another client id and the identities of a running one (instance
        id, transactional id), and let the old one leave later."""
        if name in self._world.members:
            self._started[kind.name] += 1
            self._start(kind, f"{kind.name}-{self._started[kind.name]}", name)
            self._at(self._world.now + churn["overlap"], self._stop, name, churn["how"])

    def _go(self, name: str, how: str) -> None:
        self._coming[name] += 1
        self._stop(name, how)

    def _come(self, kind: Kind, name: str) -> None:
        """Start a process that was expected, unless the number was reduced meanwhile."""
        if self._coming[name]:
            self._coming[name] -= 1
            self._start(kind, name)

    def _start(self, kind: Kind, name: str, identity: str = "") -> None:
        old = self._world.members.get(name)
        if (
            old is not None
        ):  # it is still on its way out: its process ends before the new one starts
            old.crash()
        first_broker = sum(name.encode()) % self._scenario.brokers + 1
        if isinstance(kind, ProducerKind):
            self._world.add(
                SimulatedProducer(
                    self._world,
                    kind.config(name, identity),
                    kind.partitions,
                    first_broker,
                    rate=kind.rate,
                    transaction_ms=kind.transaction_ms,
                    abort_every=kind.abort_every,
                    until=kind.stop_ms,
                    batch=kind.batch,
                    keys=kind.keys,
                )
            )
            return
        if isinstance(kind, ShareKind):
            self._world.add(
                SimulatedShareMember(
                    self._world,
                    kind.config(name),
                    kind.topics,
                    first_broker,
                    kind.work,
                    kind.repeats,
                )
            )
            return
        self._world.add(
            SimulatedMember(
                self._world,
                kind.config(name, identity),
                kind.topics,
                first_broker,
                kind.reads,
                kind.consuming_as(name, identity),
                CLIENT_VERSIONS[kind.versions],
                kind.assigning_ms,
                kind.late_ms,
            )
        )

    def _died(self, name: str) -> None:
        """Start a process again that ended by itself, a little later each time, as containers
        are restarted. A process that lived long enough begins again with the shortest time."""
        kind = self._kind_of(name)
        if isinstance(kind, ProducerKind) or kind.restarts_ms is None:
            return
        first, longest = kind.restarts_ms
        began, times = self._lives.get(name, (0, 0))
        now = self._world.now
        times = 0 if now - began >= LIVED_MS else times
        delay = min(first << min(times, 40), longest)
        self._lives[name] = now + delay, times + 1
        self._coming[name] += 1
        self._at(now + delay, self._come, kind, name)

    def _stop(self, name: str, how: str) -> None:
        member = self._world.members.get(name)
        if member is not None:
            (member.close if how == "close" else member.crash)()

    def _arrive(self, kind: Kind, how: str, bits: int) -> None:
        self._started[kind.name] += 1
        self._start(kind, f"{kind.name}-{self._started[kind.name]}")

    def _depart(self, kind: Kind, how: str, bits: int) -> None:
        there = self._there(kind)
        if len(there) > 1:  # one stays, so that there is a group to look at
            self._stop(there[bits * len(there) >> 64], how)

    def _scale_to(self, kind: Kind, to: int, how: str) -> None:
        there = self._known(
            kind, lambda name: name in self._world.members or self._coming[name] > 0
        )
        for name in there[to:]:
            self._coming.pop(name, None)
            self._stop(name, how)
        for _ in range(to - len(there)):
            self._arrive(kind, how, 0)

    def _set_polling(self, name: str, polls: bool) -> None:
        member = self._world.members.get(name)
        if member is not None:
            member.log(ApplicationResumed if polls else ApplicationStalled)
            (member.resume if polls else member.stall)()

    # -- whom

    def _there(self, kind: Kind) -> list[str]:
        return self._known(kind, self._world.members.__contains__)

    def _known(self, kind: Kind, are: Callable[[str], bool]) -> list[str]:
        """Return the names of all members of a kind, past and present, for which `are` is true."""
        known = (f"{kind.name}-{number}" for number in range(1, self._started[kind.name] + 1))
        return [name for name in known if are(name)]

    def _kind(self, churn: Plain) -> Kind:
        return next(kind for kind in self._kinds if kind.name == churn["members"])

    def _kind_of(self, name: str) -> Kind:
        """Return the kind as which a client started, by its name."""
        return next(kind for kind in self._kinds if kind.name == name.rpartition("-")[0])

    def _is_known_later(self, churn: Plain) -> bool:
        """Return True if the churn names a member in words, which are resolved when it happens."""
        return any(is_word(each) for each in listed(churn["members"]))

    def _whom(self, churn: Plain) -> list[str]:
        """Return the names of the members that start with the scenario and are meant, each once."""
        found: dict[str, None] = {}
        for each in listed(churn["members"]):
            kind = next((kind for kind in self._kinds if kind.name == each), None)
            for name in [each] if kind is None else members_of(kind):
                found[name] = None
        return list(found)

    def _found(self, churn: Plain) -> list[str]:
        """Return the names of the members that are meant and running now."""
        try:
            names = clients(
                self._world,
                churn["members"],
                churn["subject"],
                [kind.name for kind in self._kinds],
            )
        except ClusterError as error:
            why = f"churn {churn['kind']}: {error}"
            self._world.log.append(FaultSkipped(why), at_ms=self._world.now)
            return []
        return [name for name in names if name in self._world.members]
