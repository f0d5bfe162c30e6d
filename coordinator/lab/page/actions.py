"""Actions of a learner on a run: each one as a change of its scenario, with checks of its fields.

`with_action` returns the scenario with one more action. An action that no scenario can express
is carried out by `acting`. Uses scenarios, verbs and faults. Raises ActionError.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from coordinator.kit import cluster as verbs
from coordinator.kit import faults
from coordinator.verbs.members import CutMember, PauseMember

from ..simulator.files.model import FaultPlan, MemberKind, Scenario, members_of
from ..simulator.files.schema import TABLES, Key, duration_ms
from .acting import ActionError, Plain, in_world, reassignment

_NEVER_MS: Final = 1 << 40


def with_action(scenario: Scenario, action: Plain) -> Scenario:
    """Return the scenario with one more action. Raises ActionError."""
    kind, at_ms = action.get("kind"), action.get("at_ms")
    if type(at_ms) is not int or not 0 <= at_ms <= scenario.duration_ms:
        raise ActionError(
            f"at_ms {at_ms!r}: a whole number from 0 to {scenario.duration_ms}, the end of the scenario"
        )
    known = [each for group in scenario.kinds for each in members_of(group)]
    tell = ACTIONS.get(str(kind))
    if tell is None:
        raise ActionError(f"{kind!r} is no action: they are {', '.join(ACTIONS)}")
    member = action.get("member")
    if kind not in WITHOUT_MEMBER and member not in known:
        raise ActionError(f"{kind}: there is no member {member!r}; there are {', '.join(known)}")
    if kind not in WITHOUT_MEMBER and kind not in OF_SHARE and _shares(scenario, str(member)):
        raise ActionError(
            f"{kind}: {member} is of a share group; what can be done to it: {', '.join(sorted(OF_SHARE))}"
        )
    try:
        return tell(scenario, action, at_ms)
    except (faults.FaultError, TypeError, ValueError) as error:
        raise ActionError(f"{kind}: {error}") from None


def _shares(scenario: Scenario, member: str) -> bool:
    return any(member in members_of(kind) for kind in scenario.share_members)


def _lasts(action: Plain, default: int) -> int:
    value = action.get("lasts_ms", default)
    if type(value) is not int or not 0 < value < 1 << 31:
        raise ActionError(f"lasts_ms {value!r}: whole milliseconds, more than 0")
    return value


def _ends(how: str) -> Callable[[Scenario, Plain, int], Scenario]:
    def tell(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
        return _churn(
            scenario,
            {
                "kind": "restart",
                "members": action["member"],
                "at": at_ms,
                "every": 0,
                "times": 1,
                "how": how,
                "down": action.get("down_ms", _NEVER_MS),
            },
        )

    return tell


def _churn(scenario: Scenario, churn: Plain) -> Scenario:
    return replace(scenario, churn=(*scenario.churn, {**_USUAL, **churn}))


def _usual(key: Key) -> object:
    return (
        duration_ms(key.default)
        if key.kind == "duration" and key.default is not None
        else key.default
    )


_USUAL: Final = {name: _usual(key) for name, key in TABLES["churn"].keys.items()}
"""The default values of a piece of churn."""


def _stall(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    lasts = _lasts(action, 10_000)
    return _churn(
        scenario,
        {
            "kind": "stall",
            "members": action["member"],
            "at": at_ms,
            "every": 0,
            "times": 1,
            "lasts": lasts,
        },
    )


def _fault(scenario: Scenario, plan: FaultPlan) -> Scenario:
    return replace(scenario, faults=(*scenario.faults, plan))


def _freeze(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    return _fault(
        scenario,
        FaultPlan(
            at_ms,
            _lasts(action, 20_000),
            member_verb=(PauseMember.__name__, {"member": action["member"]}),
        ),
    )


def _cut(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    fields = {"member": action["member"], "direction": action.get("direction", "both")}
    return _fault(
        scenario, FaultPlan(at_ms, _lasts(action, 20_000), member_verb=(CutMember.__name__, fields))
    )


def _lose_answer(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    fault = faults.from_plain(
        {
            "action": "lose_answer",
            "client_id": action["member"],
            "api": action.get("api", _heartbeat_of(scenario, action["member"])),
            "times": 1,
            "may_miss": True,
        }
    )
    return _fault(scenario, FaultPlan(at_ms, None, request=fault))


def _heartbeat_of(scenario: Scenario, member: str) -> str:
    """Return the API name of the heartbeats that a member sends."""
    if _shares(scenario, member):
        return "ShareGroupHeartbeat"
    (kind,) = [kind for kind in scenario.members if member in members_of(kind)]
    consumer = kind.properties.get("group.protocol") == "consumer"
    return "ConsumerGroupHeartbeat" if consumer else "Heartbeat"


def _slow_assignor(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    fault = faults.from_plain(
        {
            "action": "delay",
            "client_id": action["member"],
            "api": "SyncGroup",
            "times": 1,
            "may_miss": True,
            "duration_ms": _lasts(action, 3_000),
        }
    )
    return _fault(scenario, FaultPlan(at_ms, None, request=fault))


def _join(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    if not scenario.members:
        return _one_more_sharer(scenario, at_ms)
    like = scenario.members[0]
    return _one_more(scenario, like, "new", at_ms, dict(like.properties), static=like.static)


def _one_more_sharer(scenario: Scenario, at_ms: int) -> Scenario:
    name = _free(scenario, "new")
    kind = replace(scenario.share_members[0], name=name, count=1, start_ms=(at_ms, at_ms))
    return replace(scenario, share_members=(*scenario.share_members, kind))


def _free(scenario: Scenario, name: str) -> str:
    """Return a name that no kind of members has: the given one, or a longer one."""
    taken = {kind.name for kind in scenario.kinds}
    while name in taken:
        name += "a"
    return name


def _twin(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    member = action["member"]
    like = next(kind for kind in scenario.members if member in members_of(kind))
    if not like.static:
        raise ActionError(
            f"{member} is dynamic; only a static member's group.instance.id can be used twice"
        )
    return _one_more(
        scenario,
        like,
        "twin",
        at_ms,
        {**like.properties, "group.instance.id": member},
        static=False,
    )


def _one_more(
    scenario: Scenario,
    like: MemberKind,
    name: str,
    at_ms: int,
    properties: dict[str, str],
    *,
    static: bool,
) -> Scenario:
    kind = replace(
        like,
        name=_free(scenario, name),
        count=1,
        static=static,
        start_ms=(at_ms, at_ms),
        properties=properties,
    )
    return replace(scenario, members=(*scenario.members, kind))


def _move_coordinator(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    if scenario.brokers < 2:
        raise ActionError("the scenario has one broker; the coordinator can move among two or more")
    to = action.get("to", 2)
    if type(to) is not int or not 1 <= to <= scenario.brokers:
        raise ActionError(f"to {to!r}: a broker from 1 to {scenario.brokers}")
    verb = verbs.MoveCoordinator(scenario.group_ids[0], to)
    return _fault(scenario, FaultPlan(at_ms, None, verb=verb))


def _reassign(scenario: Scenario, action: Plain, at_ms: int) -> Scenario:
    return _fault(scenario, FaultPlan(at_ms, None, verb=reassignment(scenario, action)))


ACTIONS: Final[dict[str, Callable[[Scenario, Plain, int], Scenario]]] = {
    "close": _ends("close"),
    "kill": _ends("crash"),
    "freeze": _freeze,
    "stall": _stall,
    "slow_assignor": _slow_assignor,
    "lose_answer": _lose_answer,
    "cut": _cut,
    "twin": _twin,
    "join": _join,
    "move_coordinator": _move_coordinator,
    "add_partitions": in_world,
    "reassign": _reassign,
    "commit": in_world,
}
"""The actions at an instant. `member`: the client id. `lasts_ms`: how long the action lasts.
`down_ms`: after how long a member starts again."""
OF_SHARE: Final = frozenset({"close", "kill", "freeze", "stall", "lose_answer", "cut"})
"""The possible actions on a member of a share group."""
WITHOUT_MEMBER: Final = frozenset({"join", "move_coordinator", "add_partitions", "reassign"})
