"""A page reader's actions on a live group, carried out by operations of the control port.

Each action is a row: its words, its target, the operation that carries it out and the one that
undoes it. `Deeds` checks a browser's request against the rows and the group's present state, and
keeps the actions in force. The event log has them, as it has any other operation of the control
port. Uses the table of operations; it must not know HTTP.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from coordinator.kit.http.port import Port
from coordinator.kit.http.problems import problem_of
from coordinator.kit.http.table import all_operations, perform
from coordinator.verbs.brokers import CutClient, MoveCoordinator

if TYPE_CHECKING:
    from coordinator.kit.emulator.embedded import Emulator
    from coordinator.kit.views.group_snapshots import GroupSnapshot, MemberSnapshot

Plain = dict[str, Any]
WITHIN_S: Final = 10.0
"""Seconds that a browser waits for an action."""


class DeedError(ValueError):
    """An action is impossible; the message says which, and lists the possible ones."""


class Target(NamedTuple):
    """Target of an action. `member` None: the group."""

    group: GroupSnapshot
    member: MemberSnapshot | None
    brokers: tuple[int, ...]

    @property
    def client(self) -> str:
        """The client id of the chosen member."""
        assert self.member is not None
        return self.member.client_id


class Call(NamedTuple):
    """A call of an operation: its body, and the values for the names in its path."""

    operation: str
    body: Plain
    places: dict[str, str]


@dataclass(frozen=True, slots=True)
class Deed:
    """An action. `undo`: function from the operation's answer to the call that undoes it; None:
    it is over at once. `brokers`: number of brokers that it needs. `protocols`: the kinds of
    groups that it applies to. `peopled`: an action on a group that needs members."""

    text: str
    of_member: bool
    call: Callable[[Target], Call]
    undo: Callable[[Plain], Call] | None = None
    brokers: int = 1
    protocols: tuple[str, ...] = ("classic", "consumer", "share")
    peopled: bool = False


def _places(target: Target) -> dict[str, str]:
    member = {} if target.member is None else {"member": target.member.member_id}
    return {"group": target.group.group_id, **member}


def _refusal(target: Target) -> Call:
    consumer = target.group.type == "consumer"
    error = "STALE_MEMBER_EPOCH" if consumer else "REBALANCE_IN_PROGRESS"
    fault = {"action": "fail", "error": error, "api": "OffsetCommit", "client_id": target.client}
    return Call("fault_add", {**fault, "times": 1, "may_miss": True}, {})


def _cut(target: Target) -> Call:
    node = target.group.coordinator or target.brokers[0]
    return Call(
        "broker_control",
        {"verb": CutClient.__name__, "client_id": target.client, "broker": node},
        {},
    )


def _move(target: Target) -> Call:
    others = [node for node in target.brokers if node != target.group.coordinator]
    verb = {"verb": MoveCoordinator.__name__, "group": target.group.group_id, "to": others[0]}
    return Call("broker_control", verb, {})


def _held(target: Target) -> Call:
    return Call("fault_add", {"action": "hold", "client_id": target.client, "may_miss": True}, {})


def _fault_ends(answer: Plain) -> Call:
    return Call("fault_remove", {}, {"fault_id": str(answer["fault_id"])})


def _inverse(answer: Plain) -> Call:
    return Call("broker_control", answer["inverse"], {})


_BY_READER: Final = {"reason": "a reader of the page asked for it"}
DEEDS: Final[dict[str, Deed]] = {
    "expire": Deed(
        "let its session expire now", True, lambda at: Call("group_expire", {}, _places(at))
    ),
    "remove": Deed(
        "remove it, as an administrator",
        True,
        lambda at: Call("group_remove", _BY_READER, _places(at)),
    ),
    "pause": Deed("pause it: hold all its requests back", True, _held, _fault_ends),
    "cut": Deed("cut its link to the coordinator", True, _cut, _inverse),
    "refuse_commit": Deed(
        "refuse its next commit", True, _refusal, _fault_ends, protocols=("classic", "consumer")
    ),
    "rebalance": Deed(
        "let the group rebalance",
        False,
        lambda at: Call("group_rebalance", _BY_READER, {"group": at.group.group_id}),
        protocols=("classic",),
        peopled=True,
    ),
    "move_coordinator": Deed(
        "move its coordinator to another broker", False, _move, _inverse, brokers=2
    ),
}


@dataclass(slots=True)
class _InForce:
    """An action in force. `whom`: a client id, or the group id. `fault`: the number of its
    fault, or None."""

    do: str
    group: str
    whom: str
    member: str | None
    undo: Call
    fault: str | None

    @property
    def text(self) -> str:
        return f"{self.whom}: {DEEDS[self.do].text}"


@dataclass(slots=True)
class Deeds:
    """The actions on one emulator. It must be made on the emulator's event loop, and is called
    from other threads. `token`: a browser must send it to act."""

    kafka: Emulator
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    _port: Port = field(init=False)
    _loop: asyncio.AbstractEventLoop = field(init=False)
    _in_force: dict[int, _InForce] = field(default_factory=dict)
    _count: int = 0

    def __post_init__(self) -> None:
        self._port = Port(self.kafka)
        self._loop = asyncio.get_running_loop()

    def knows(self, token: str) -> bool:
        """Compare a token, in the same time for every guess."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def plain(self) -> Plain:
        """Return the possible actions, and those in force."""
        several = len(self.kafka.servers)
        self._forget_spent()
        return {
            "deeds": [
                {
                    "do": name,
                    "text": deed.text,
                    "member": deed.of_member,
                    "protocols": list(deed.protocols),
                    "peopled": deed.peopled,
                }
                for name, deed in DEEDS.items()
                if deed.brokers <= several
            ],
            "in_force": [
                {
                    "number": number,
                    "text": each.text,
                    "do": each.do,
                    "group": each.group,
                    "member": each.member,
                }
                for number, each in self._in_force.items()
            ],
        }

    def _forget_spent(self) -> None:
        """Drop faults that have met all their requests, or that another user has ended."""
        acting = {
            str(fault.number)
            for fault in self.kafka.faults()
            if fault.fault.times is None or fault.hits < fault.fault.times
        }
        for number, each in list(self._in_force.items()):
            if each.fault is not None and each.fault not in acting:
                del self._in_force[number]

    def carry_out(self, asked: Plain) -> tuple[int, Plain]:
        """Carry out a browser's request: `{"do": "expire", "group": ..., "member": ...}`, or
        `{"undo": 1}`. Return an HTTP status, and the actions in force or an `error`."""
        try:
            return 200, self._on_loop(self._undone(asked) if "undo" in asked else self._done(asked))
        except DeedError as error:
            return 400, {"error": str(error)}
        except Exception as error:  # of the kit: which status it is stands in one place
            problem = problem_of(error)
            return problem.status, {"error": problem.detail}

    def _on_loop(self, work: Coroutine[Any, Any, Plain]) -> Plain:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(WITHIN_S)

    async def _call(self, call: Call) -> Plain:
        entry = all_operations()[call.operation]
        body = entry.read_body(call.body) if entry.method == "POST" else entry.read_query({})
        answer: Plain = await perform(entry, self._port, body, call.places)
        return answer

    async def _done(self, asked: Plain) -> Plain:
        name = asked.get("do")
        deed = DEEDS.get(name) if isinstance(name, str) else None
        if deed is None or not isinstance(name, str):
            raise DeedError(f"do: {name!r} cannot be done; there are {', '.join(DEEDS)}")
        known = {"do", "group", "member"} if deed.of_member else {"do", "group"}
        if asked.keys() != known or not all(isinstance(asked[key], str) for key in known):
            raise DeedError(f"{name} takes {', '.join(sorted(known - {'do'}))}, as texts")
        brokers = tuple(self.kafka.servers)
        if len(brokers) < deed.brokers:
            raise DeedError(f"{name} needs {deed.brokers} brokers; there is {len(brokers)}")
        group = self.kafka.group(asked["group"]).snapshot()
        if not group.exists:
            raise DeedError(f"there is no group {asked['group']!r}")
        if group.type not in deed.protocols:
            able = " and ".join(deed.protocols)
            raise DeedError(
                f"{name} is for groups of type {able}; {group.group_id!r} is of type {group.type}"
            )
        member = group.member(asked["member"]) if deed.of_member else None
        whom = group.group_id if member is None else member.client_id
        self._refuse_twice(name, group.group_id, whom)
        answer = await self._call(deed.call(Target(group, member, brokers)))
        if deed.undo is not None:
            self._count += 1
            undo = deed.undo(answer)
            self._in_force[self._count] = _InForce(
                name,
                group.group_id,
                whom,
                None if member is None else member.member_id,
                undo,
                undo.places.get("fault_id"),
            )
        return self.plain() | {"done": f"{whom}: {deed.text}"}

    def _refuse_twice(self, name: str, group: str, whom: str) -> None:
        """Raise DeedError for an action that is in force already; moving a coordinator is the
        exception."""
        self._forget_spent()
        for each in self._in_force.values():
            if (each.do, each.group, each.whom) == (name, group, whom) and DEEDS[name].of_member:
                raise DeedError(f"{each.text!r} is in force already: undo it first")

    async def _undone(self, asked: Plain) -> Plain:
        found = self._in_force.get(asked["undo"]) if type(asked["undo"]) is int else None
        if found is None or asked.keys() != {"undo"}:
            numbers = ", ".join(map(str, self._in_force)) or "nothing"
            raise DeedError(f"undo: {asked['undo']!r} is not in force; in force: {numbers}")
        del self._in_force[asked["undo"]]
        await self._call(found.undo)
        return self.plain() | {"done": f"{found.text}: undone"}
