"""Operations on groups: list, describe, wait, verify, explain, and actions on members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...views.group_snapshots import to_plain
from ...waits.expectations import STATES, ExpectationError, GroupExpectation
from ..as_text import checks, columns
from ..json_values import DONE, FLAG, NUMBER, TEXT, by_partition, list_of, object_of, partition
from ..operation import operation
from ..options import ASSIGNED
from ..port import NotThereError, Port, timeout_of, until
from ..shapes import told
from .faults import FAULT, numbered, shown

if TYPE_CHECKING:
    from ...verifying.verification import Beginning, Verification

_PARTITION = {"type": "array", "prefixItems": [TEXT, NUMBER], "minItems": 2, "maxItems": 2}
_MEMBER = object_of(
    member_id=TEXT,
    client_id=TEXT,
    client_host=TEXT,
    instance_id={"type": ["string", "null"]},
    topics=list_of(TEXT),
    assignment={"anyOf": [list_of(_PARTITION), {"type": "null"}]},
    last_seen_ms=NUMBER,
    waits_for={"type": ["string", "null"]},
    acted=FLAG,
    connected=FLAG,
    epoch={"type": ["integer", "null"]},
    heard=FLAG,
)
_COMMITTED = object_of(
    topic=TEXT,
    partition=NUMBER,
    offset=NUMBER,
    metadata=TEXT,
    leader_epoch=NUMBER,
    committed_ms=NUMBER,
)
_COORDINATOR = {"type": ["integer", "null"], "description": "the id of a broker"}
GROUP = object_of(
    group_id=TEXT,
    state={"enum": list(STATES)},
    type=TEXT,
    generation=NUMBER,
    leader={"type": ["string", "null"]},
    assignor={"type": ["string", "null"]},
    members=list_of(_MEMBER),
    committed=list_of(_COMMITTED),
    lag=list_of(object_of(topic=TEXT, partition=NUMBER, lag=NUMBER)),
    at_ms=NUMBER,
    waiting_for=TEXT,
    coordinator=_COORDINATOR,
    text=TEXT,
)


@dataclass(frozen=True, slots=True)
class Expectation:
    """The condition that a wait for a group ends with. Fields that are left out do not matter;
    all others must hold at the same instant."""

    state: str | None = told(f"one of {', '.join(STATES)}; or a short word, such as joining", None)
    members: int | None = told("exact number", None)
    generation_above: int | None = told(
        "a generation (of a KIP-848 group: an epoch) above this one", None
    )
    assigned: str | dict[str, list[str]] | None = told(
        '"all" (each partition has an owner), or partitions by member, such as {"client": '
        '["orders-0"]}',
        None,
        ASSIGNED,
    )
    committed: dict[str, int] | None = told(
        'committed offsets at least this high, by partition, such as {"orders-0": 10}', None
    )
    lag: int | None = told("total lag over all partitions at most this high", None)
    acted: bool | None = told(
        "every member has fetched from or committed for each partition that it was assigned", None
    )
    heard: bool | None = told(
        "the group is Stable and every member has sent a heartbeat since it got its assignment",
        None,
    )
    timeout: float | None = told("seconds to wait (30)", None)


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason, for the event log."""

    reason: str | None = told("reason to record in the event log", None)


@dataclass(frozen=True, slots=True)
class Offsets:
    """Offsets by partition."""

    offsets: dict[str, int] = told('{"orders-0": 5}')
    timeout: float | None = told("seconds to wait for the coordinator (30)", None)


@dataclass(frozen=True, slots=True)
class Rebalances:
    """Selects rebalances of a group."""

    generation: int | None = told("only the rebalance that led to this generation", None)


@dataclass(frozen=True, slots=True)
class Processed:
    """A record that the application has processed."""

    topic: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Check:
    """One assertion; its fields are the arguments of `GroupHandle.verify()` and its methods."""

    check: str = told(
        "single_owner, revoked_before_assigned, no_stale_commit, rebalances, left_cleanly, committed, no_gaps, exactly_once, "
        "in_order_per_key; "
        "of share groups: done_stays_done, one_holder, deliveries_are_counted, nothing_before_start, locks_last, dead_letters_complete"
    )
    exactly: int | None = told("rebalances: exact number", None)
    at_least: int | None = told("rebalances: minimum", None)
    at_most: int | None = told("rebalances: maximum", None)
    members: list[str] | None = told(
        "left_cleanly: members to check (default: all that left)", None
    )
    offsets: dict[str, int] | None = told('committed: offsets by partition, {"orders-0": 10}', None)
    processed: list[Processed] | None = told(
        "no_gaps, exactly_once, in_order_per_key: the records that the application has processed, "
        "in order",
        None,
    )
    beginning: dict[str, int] | Literal["first processed"] | None = told(
        'no_gaps, exactly_once: the offsets at which it had to start, such as {"orders-0": 10}, '
        'or "first processed" (default: the committed offsets)',
        None,
    )


@dataclass(frozen=True, slots=True)
class Checks:
    """Assertions about a group."""

    checks: list[Check] = told(
        'such as [{"check": "single_owner"}, {"check": "rebalances", "at_most": 2}]'
    )
    since: int = told("a mark: only what happened from there on", 0)


@operation(
    "GET",
    "/groups",
    summary="List all groups by id.",
    answer=object_of(
        groups=list_of(object_of(group_id=TEXT, state=TEXT, type=TEXT, members=NUMBER))
    ),
    tell=columns("groups", GROUP="group_id", STATE="state", TYPE="type", MEMBERS="members"),
)
def group_list(port: Port, body: Any) -> Any:
    seen = [port.kafka.group(name).snapshot() for name in port.kafka.groups()]
    return {
        "groups": [
            {"group_id": g.group_id, "state": g.state, "type": g.type, "members": len(g.members)}
            for g in seen
        ]
    }


@operation(
    "GET",
    "/groups/{group}",
    summary="Show a group: state, generation, members, committed offsets, lag. A group that does not "
    "exist is Dead.",
    answer=GROUP,
)
def group_describe(port: Port, body: Any, group: str) -> Any:
    return to_plain(port.kafka.group(group).snapshot())


@operation(
    "GET",
    "/groups/{group}/coordinator",
    summary="Return the broker that is the coordinator for a group id; null while there is none.",
    answer=object_of(coordinator=_COORDINATOR),
)
def group_coordinator(port: Port, body: Any, group: str) -> Any:
    return {"coordinator": port.kafka.group(group).coordinator}


@operation(
    "POST",
    "/groups/{group}/wait",
    summary=(
        "Wait until all given conditions hold at the same instant and answer with the group. "
        "Status 409 after the timeout."
    ),
    body=Expectation,
    answer=GROUP,
    waits=True,
)
async def group_wait(port: Port, body: Expectation, group: str) -> Any:
    timeout = timeout_of(body.timeout)
    assigned = body.assigned
    if isinstance(assigned, dict):
        assigned = {
            name: [f"{topic}-{index}" for topic, index in map(partition, rows)]
            for name, rows in assigned.items()
        }
    expectation = GroupExpectation(
        state=body.state,
        members=body.members,
        generation_above=body.generation_above,
        assigned=assigned,
        lag=body.lag,
        acted=body.acted,
        heard=body.heard,
        committed=None if body.committed is None else by_partition(body.committed),
    )
    handle = port.kafka.group(group)
    future = handle.begin_wait(expectation)
    if not await until(future, timeout):
        raise handle.timed_out(expectation, future, timeout)
    return to_plain(future.result())


@operation(
    "GET",
    "/groups/{group}/rebalances",
    summary="List the rebalances so far: the cause of each, its duration, and the partitions that "
    "members got and lost.",
    body=Rebalances,
    answer=object_of(rebalances=list_of({"type": "object"})),
    tell=columns(
        "rebalances",
        GENERATION="generation",
        OUTCOME="outcome",
        **{"BEGAN (ms)": "started_ms", "STABLE (ms)": "stable_ms"},
        BECAUSE="because",
    ),
)
def group_rebalances(port: Port, body: Rebalances, group: str) -> Any:
    return {
        "rebalances": [
            row
            for row in port.kafka.group(group).rebalances
            if body.generation in (None, row["generation"])
        ]
    }


@operation(
    "GET",
    "/groups/{group}/explain",
    summary="Explain in sentences why each rebalance happened.",
    body=Rebalances,
    answer=object_of(text=TEXT),
)
def group_explain(port: Port, body: Rebalances, group: str) -> Any:
    return {"text": port.kafka.explain(group, body.generation)}


@operation(
    "POST",
    "/groups/{group}/verify",
    summary=(
        "Check assertions about a group's history. Status 409 if one does not hold: its `failure` "
        "says why, with the surrounding lines of the log."
    ),
    body=Checks,
    answer=object_of(holds=FLAG, checks=list_of(object_of(check=TEXT, holds=FLAG, failure=TEXT))),
    tell=checks,
)
def group_verify(port: Port, body: Checks, group: str) -> Any:
    calls = [_checked(check) for check in body.checks]
    if not calls:
        raise ExpectationError(f"checks: give at least one of {', '.join(CHECKS)}")
    rows = []
    for check, call in zip(body.checks, calls, strict=True):
        try:
            call(port.kafka.verify(group, since=body.since))
            rows.append({"check": check.check, "holds": True, "failure": ""})
        except AssertionError as error:
            rows.append({"check": check.check, "holds": False, "failure": str(error)})
    return {"holds": all(row["holds"] for row in rows), "checks": rows}


def _checked(check: Check) -> Callable[[Verification], object]:
    """Return the call that makes a check. Raises ExpectationError, before any check is made, for
    fields that the check does not have."""
    words = {
        name
        for name in (
            "exactly",
            "at_least",
            "at_most",
            "members",
            "offsets",
            "processed",
            "beginning",
        )
        if getattr(check, name) is not None
    }
    if check.check not in CHECKS:
        raise ExpectationError(f"{check.check!r} is no check: there are {', '.join(CHECKS)}")
    allowed, needed, call = CHECKS[check.check]
    for word in sorted(words - allowed):
        raise ExpectationError(
            f"{check.check} has no {word!r}: {', '.join(sorted(allowed)) or 'it takes no words'}"
        )
    if needed and not words:
        raise ExpectationError(f"{check.check}: give {' or '.join(sorted(allowed))}")
    return lambda verification: call(verification, check)


def _rows(check: Check) -> list[tuple[str, int, int]]:
    return [(row.topic, row.partition, row.offset) for row in check.processed or ()]


def _beginning(check: Check) -> Beginning:
    given = check.beginning
    return by_partition(given) if isinstance(given, dict) else given


CHECKS: dict[str, tuple[set[str], bool, Callable[[Verification, Check], object]]] = {
    "single_owner": (set(), False, lambda v, c: v.single_owner()),
    "revoked_before_assigned": (set(), False, lambda v, c: v.revoked_before_assigned()),
    "no_stale_commit": (set(), False, lambda v, c: v.no_stale_commit()),
    "rebalances": (
        {"exactly", "at_least", "at_most"},
        True,
        lambda v, c: v.rebalances(c.exactly, at_least=c.at_least, at_most=c.at_most),
    ),
    "left_cleanly": ({"members"}, False, lambda v, c: v.left_cleanly(*c.members or ())),
    "committed": ({"offsets"}, True, lambda v, c: v.committed(by_partition(c.offsets or {}))),
    "no_gaps": (
        {"processed", "beginning"},
        True,
        lambda v, c: v.no_gaps(_rows(c), beginning=_beginning(c)),
    ),
    "exactly_once": (
        {"processed", "beginning"},
        True,
        lambda v, c: v.exactly_once(_rows(c), beginning=_beginning(c)),
    ),
    "in_order_per_key": ({"processed"}, True, lambda v, c: v.in_order_per_key(_rows(c))),
    "done_stays_done": (set(), False, lambda v, c: v.done_stays_done()),
    "one_holder": (set(), False, lambda v, c: v.one_holder()),
    "deliveries_are_counted": (set(), False, lambda v, c: v.deliveries_are_counted()),
    "nothing_before_start": (set(), False, lambda v, c: v.nothing_before_start()),
    "locks_last": (set(), False, lambda v, c: v.locks_last()),
    "dead_letters_complete": (set(), False, lambda v, c: v.dead_letters_complete()),
}
"""The checks: their fields, whether one is required, and the call."""


# -- acting


@operation(
    "POST",
    "/groups/{group}/rebalance",
    summary="Make the group rebalance: every member has to join again.",
    body=Reason,
    answer=DONE,
)
async def group_rebalance(port: Port, body: Reason, group: str) -> Any:
    await _existing(port, group).rebalance(*_reason(body))
    return {"done": True}


@operation(
    "POST",
    "/groups/{group}/members/{member}/remove",
    summary="Remove a member as an administrator does (LeaveGroup); its next request is refused with "
    "UNKNOWN_MEMBER_ID.",
    body=Reason,
    answer=DONE,
)
async def group_remove(port: Port, body: Reason, group: str, member: str) -> Any:
    await _existing(port, group).remove(member, *_reason(body))
    return {"done": True}


@operation(
    "POST",
    "/groups/{group}/members/{member}/expire",
    summary="End a member's session now, as if it had sent nothing for its session timeout.",
    answer=DONE,
)
async def group_expire(port: Port, body: Any, group: str, member: str) -> Any:
    await _existing(port, group).expire(member)
    return {"done": True}


@operation(
    "POST",
    "/groups/{group}/members/{member}/fence",
    summary="Fence a static member, as a second process with its group.instance.id does.",
    answer=DONE,
)
async def group_fence(port: Port, body: Any, group: str, member: str) -> Any:
    await _existing(port, group).fence(member)
    return {"done": True}


@operation(
    "POST",
    "/groups/{group}/members/{member}/lose",
    summary=(
        "Make a member lose its partitions with the response to its next heartbeat. The answer is "
        "the fault that does so."
    ),
    answer=FAULT,
    tell=numbered,
)
def group_lose(port: Port, body: Any, group: str, member: str) -> Any:
    return shown(_existing(port, group).lose(member))


@operation(
    "POST",
    "/groups/{group}/commit",
    summary="Set committed offsets as a tool does; the group must have no members.",
    body=Offsets,
    answer=DONE,
)
async def group_commit(port: Port, body: Offsets, group: str) -> Any:
    await port.kafka.awaited.group(group).commit(
        by_partition(body.offsets), timeout=timeout_of(body.timeout)
    )
    return {"done": True}


@operation(
    "DELETE",
    "/groups/{group}",
    summary="Delete a group and its offsets; it must be Empty.",
    answer=DONE,
)
async def group_delete(port: Port, body: Any, group: str) -> Any:
    await _existing(port, group).delete()
    return {"done": True}


def _reason(body: Reason) -> tuple[str, ...]:
    return () if body.reason is None else (body.reason,)


def _existing(port: Port, group: str) -> Any:
    """Return the group, with verbs to be awaited. Raises NotThereError, which names the groups
    that exist."""
    known = port.kafka.groups()
    if group not in known:
        raise NotThereError(f"there is no group {group!r}; there are: {', '.join(known) or 'none'}")
    return port.kafka.awaited.group(group)
