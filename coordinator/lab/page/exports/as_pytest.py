"""A run of the page as a pytest test under virtual time: the same members, brokers and instants,
with the actions as calls of the testing kit.

The run is read from its scenario file (`as_file`), so that both agree. The test asserts the
outcome of the simulator's run. For a run that the kit cannot express there is no test, and an
error says why. Every name is written as a Python literal, whatever it contains. Uses scenario
files, the log and its explanation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from coordinator.base.installing import page_words
from coordinator.base.releases import NEWEST
from coordinator.events.groups import (
    GenerationStarted,
    GenerationStored,
    MemberJoined,
    MemberPending,
    MemberRemoved,
    RebalanceStarted,
)
from coordinator.events.line import Line
from coordinator.events.reader import read_lines
from coordinator.events.share_partitions import RecordsAcquired
from coordinator.history.explain.formatting import printable
from coordinator.history.explain.output import as_plain, timeline_of
from coordinator.kit.cluster_kit import ClusterKit
from coordinator.kit.faults import Fault, to_plain
from coordinator.verbs.brokers import CreatePartitions, CreateTopic, DeleteTopic
from coordinator.verbs.members import CutMember, PauseMember

from ...simulator.files.model import FaultPlan, MemberKind, Scenario, members_of
from ...simulator.files.share_kinds import ShareKind
from ..shares import in_test
from ..shares.in_test import OnlyHereError

Plain = dict[str, Any]
Step = tuple[int, list[str]]
"""An instant, and lines of the test."""


def as_test(scenario: Scenario, lines: Sequence[str], left_out: Sequence[str]) -> Plain:
    """Return `test`: the test's text, or "" if there is none because of `only_here`, a list of
    what only the simulator has; and `not_in_it`: what the test leaves out. `lines`: the run's
    log. `left_out`: kinds of actions that the scenario lacks."""
    none = {"test": "", "left_out": list(left_out), "not_in_it": []}
    if left_out:
        return {**none, "only_here": ", ".join(left_out)}
    try:
        text = _text(scenario, lines)
    except OnlyHereError as error:
        return {**none, "only_here": str(error)}
    return {**none, "test": text, "only_here": "", "not_in_it": _without(scenario)}


def _without(scenario: Scenario) -> list[str]:
    reads = any(kind.reads or kind.consuming for kind in scenario.members)
    return [
        *(["the records that members read, and their commits"] if reads else []),
        *(["what producers write"] if scenario.producers and not scenario.share_members else []),
    ]


def _text(scenario: Scenario, lines: Sequence[str]) -> str:
    _check(scenario)
    log = list(read_lines([line + "\n" for line in lines], "run"))
    anchors = _Anchors(log)
    body: list[str] = []
    now = 0
    steps = [*in_test.steps(scenario, log), *_steps(scenario)]
    for at_ms, codes in sorted(steps, key=lambda step: step[0]):
        if at_ms >= scenario.duration_ms:
            continue
        if at_ms > now:
            body.append(anchors.wait(at_ms))
            now = at_ms
        body += codes
    body += [f"await until({scenario.duration_ms:_})", *_asserted(scenario, log)]
    settings = {key: _plain(each) for key, each in scenario.broker_config.items()}
    return _FRAME.format(
        install=page_words("test"),
        topics=repr(scenario.topics),
        brokers=f"brokers={scenario.brokers}, " if scenario.brokers > 1 else "",
        settings=repr(settings),
        latency=f"{sum(scenario.delay_ms) / 2:g}",
        kinds="\n    ".join(line for kind in scenario.kinds for line in _settings(kind)),
        body=re.sub(r"(?m)^ +$", "", "\n        ".join(body)),
    )


def _settings(kind: MemberKind | ShareKind) -> list[str]:
    rows = [f"    {key!r}: {_plain(each)!r}," for key, each in kind.properties.items()]
    return [f"{_variable(kind)} = {{", *rows, "}"]


def _plain(value: str) -> str | int:
    """Return a setting's text, as a number if it is one."""
    return int(value) if re.fullmatch(r"0|[1-9]\d*", value, re.ASCII) else value


def _variable(kind: MemberKind | ShareKind) -> str:
    return "settings_of_" + re.sub(r"\W", "_", kind.name)


def _check(scenario: Scenario) -> None:
    """Raise OnlyHereError for a world or members that a test cannot have."""
    wires, sharers = scenario.wires, scenario.share_members
    own_wires = any(
        each.delay_ms is not None or each.bandwidth is not None for each in wires.kinds.values()
    )
    for what, there in (
        ("members of share groups that send requests twice", any(k.repeats for k in sharers)),
        ("poison records of a share group", any(k.work.poison for k in sharers)),
        ("links of zones or kinds", bool(wires.zones) or own_wires),
        ("links of a bandwidth", bool(scenario.bandwidth)),
        ("brokers of a capacity", bool(scenario.broker_capacity)),
        ("assignors that take time", any(kind.assigning_ms for kind in scenario.members)),
        ("heartbeats that are late", any(kind.late_ms[1] for kind in scenario.members)),
        ("pipelines with transactions", any(k.commit == "transaction" for k in scenario.members)),
        ("work that takes time", any(map(_takes_time, scenario.members))),
        ("rights of users", scenario.rights is not None),
        ("clients of older versions", any(k.versions != "newest" for k in scenario.members)),
        ("another release of brokers", scenario.release != NEWEST),
    ):
        if there:
            raise OnlyHereError(what)


def _takes_time(kind: MemberKind) -> bool:
    """Return True if the members need time to process records, during which they do not poll."""
    return kind.consuming is not None and bool(kind.consuming.processing_ms or kind.consuming.work)


# -- what happens

_SHORTLY_MS: Final = 3_000
_ANCHORS: Final = frozenset(
    {
        MemberPending,
        MemberJoined,
        RebalanceStarted,
        GenerationStarted,
        GenerationStored,
        MemberRemoved,
        RecordsAcquired,
    }
)


class _Anchors:
    """Chooses how the test waits for an instant: for an event of a group, if one came shortly
    before, because members of a test need fewer messages to find their coordinator; else for the
    clock."""

    def __init__(self, log: Sequence[Line]) -> None:
        self._events = [line for line in log if line.kind in _ANCHORS]

    def wait(self, at_ms: int) -> str:
        before = [line for line in self._events if line.at_ms <= at_ms]
        if not before or before[-1].at_ms < at_ms - _SHORTLY_MS:
            return f"await until({at_ms:_})"
        last = before[-1]
        count = sum(line.kind is last.kind for line in before)
        return f"await after({last.name!r}, {count}, {at_ms - last.at_ms})"


def _steps(scenario: Scenario) -> Iterator[Step]:
    kinds = {name: kind for kind in scenario.kinds for name in members_of(kind)}
    for name, kind in kinds.items():
        yield _once(kind.start_ms, f"members {kind.name} start"), [_start(kind, name)]
    for churn in scenario.churn:
        yield from _churned(kinds, churn)
    for number, plan in enumerate(scenario.faults):
        yield from _faulted(scenario, kinds, plan, f"fault_{number}")


def _once(when: Any, what: str) -> int:
    """Return an instant. Raises OnlyHereError for a span in which the simulator draws one."""
    first, last = when if isinstance(when, tuple | list) else (when, when)
    if first != last:
        raise OnlyHereError(f"{what} at an instant that is drawn")
    return int(first)


def _start(kind: MemberKind | ShareKind, name: str) -> str:
    if isinstance(kind, ShareKind):
        return f"peers[{name!r}] = {in_test.peer(kind, name, _variable(kind))}"
    own = {"client.id": name} | ({"group.instance.id": name} if kind.static else {})
    group, topics = kind.group, list(kind.topics)
    given = f"{group!r}, {topics!r}, config={_variable(kind)} | {own!r}"
    return f"peers[{name!r}] = kafka.peer({given})"


def _churned(kinds: dict[str, MemberKind | ShareKind], churn: Plain) -> Iterator[Step]:
    kind, whom = churn["kind"], churn["members"]
    if kind not in ("restart", "stall") or churn["times"] != 1 or whom not in kinds:
        raise OnlyHereError(f"churn ({kind} of {printable(whom)})")
    if churn.get("becomes") is not None:
        raise OnlyHereError(f"churn ({printable(whom)} becomes another kind of member)")
    if churn["within"] or churn["spread"]:
        raise OnlyHereError(f"churn of {printable(whom)} at an instant that is drawn")
    at_ms = _once(churn["at"], f"churn of {printable(whom)}")
    if kind == "stall":
        yield at_ms, [f"peers[{whom!r}].stall()"]
        yield at_ms + churn["lasts"], [f"peers[{whom!r}].resume()"]
        return
    yield at_ms, [f"peers[{whom!r}].{'crash' if churn['how'] == 'crash' else 'stop'}()"]
    yield at_ms + churn["down"], [_start(kinds[whom], whom)]


def _faulted(
    scenario: Scenario, kinds: dict[str, MemberKind | ShareKind], plan: FaultPlan, name: str
) -> Iterator[Step]:
    if plan.trigger is not None or plan.times != 1 or plan.longest_ms not in (None, plan.lasts_ms):
        raise OnlyHereError("a fault that waits, comes again or lasts as long as is drawn")
    named = f"{name} = " if plan.lasts_ms is not None else ""
    if plan.request is not None:
        if plan.request.action.kind == "observe":
            return
        begun, ended = [named + _request_fault(plan.request)], [f"{name}.remove()"]
    elif plan.member_verb is not None:
        begun, ended = _member_verb(scenario, plan.member_verb, name)
    else:
        begun, ended = [named + _verb(plan.verb)], [f"{name}.undo()"]
    yield plan.at_ms, begun
    if plan.lasts_ms is not None:
        yield plan.at_ms + plan.lasts_ms, ended


def _request_fault(fault: Fault) -> str:
    plain = {key: each for key, each in to_plain(fault).items() if each is not False}
    kind, api = plain.pop("action"), plain.pop("api", None)
    first = [repr(api)] + ([repr(plain.pop("error"))] if "error" in plain else [])
    if "duration_ms" in plain:
        plain["seconds"] = plain.pop("duration_ms") / 1000
    plain["may_miss"] = True
    return (
        f"kafka.{kind}({', '.join([*first, *(f'{key}={each!r}' for key, each in plain.items())])})"
    )


def _member_verb(
    scenario: Scenario, verb: tuple[str, Plain], name: str
) -> tuple[list[str], list[str]]:
    kind, fields = verb
    member = fields["member"]
    if kind == PauseMember.__name__:
        return [f"peers[{member!r}].pause()"], [f"peers[{member!r}].resume()"]
    if kind == CutMember.__name__ and fields.get("direction", "both") == "both":
        nodes = [fields["broker"]] if fields.get("broker") else range(1, scenario.brokers + 1)
        cuts = ", ".join(f"kafka.cut_client({member!r}, {node})" for node in nodes)
        return [f"{name} = [{cuts}]"], [f"for cut in {name}:", "    cut.undo()"]
    raise OnlyHereError(f"{kind} of {printable(member)}")


_TOPIC_WORDS: Final = {
    CreateTopic.__name__: "create_topic",
    CreatePartitions.__name__: "grow_topic",
    DeleteTopic.__name__: "delete_topic",
}


def _verb(verb: Any) -> str:
    kind = type(verb).__name__
    word = _TOPIC_WORDS.get(kind) or re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower()
    if kind not in _TOPIC_WORDS and not hasattr(ClusterKit, word):
        raise OnlyHereError(kind)
    fields = {name: getattr(verb, name) for name in verb.__dataclass_fields__}
    if kind in _TOPIC_WORDS:
        return f"kafka.{word}({', '.join(map(repr, fields.values()))})"
    return f"kafka.{word}({', '.join(f'{key}={each!r}' for key, each in fields.items())})"


# -- what came of it


def _asserted(scenario: Scenario, log: Sequence[Line]) -> Iterator[str]:
    timeline = timeline_of(log, "run")
    for group in as_plain(timeline, timeline.groups.values())["groups"]:
        yield ""
        if in_test.is_one(scenario, group["group"]):
            yield from in_test.asserted(group["group"], log)
            continue
        yield f"group = kafka.group({group['group']!r})"
        yield "assert [each['generation'] for each in group.rebalances] == ["
        for each in group["rebalances"]:
            yield f"    {each['generation']},  # {_short(each['because'])}"
        yield "]"
        yield "seen = group.snapshot()"
        number = group["rebalances"][-1]["generation"] if group["rebalances"] else 0
        number = max(number, group["generation"])
        yield f"assert (seen.state, seen.generation) == {(group['state'], number)!r}"
        members = group["members"]
        last = group["rebalances"][-1] if group["rebalances"] else {}
        if group["state"] != "Empty" and "assigned_ms" in last:  # of the consumer protocol
            yield from _counts(last["assignments"])
        elif group["state"] == "Empty" or group["assignor"] in _BY_NAME:
            yield from _shares(members)
        else:
            yield from _counts(members)


def _short(because: str) -> str:
    """Return a cause without the drawn part of member ids, in one printable line."""
    return printable(re.sub(r"-[0-9a-f]{4}\b", "", because))


def _shares(members: list[Plain]) -> Iterator[str]:
    """Yield the lines that assert each member's partitions."""
    has = {
        each["client_id"]: sorted(
            (topic, number)
            for topic, numbers in (each["partitions"] or {}).items()
            for number in numbers
        )
        for each in sorted(members, key=lambda each: str(each["client_id"]))
    }
    yield "has = {each.client_id: sorted(each.assignment or ()) for each in seen.members}"
    yield "assert has == {"
    for client_id, partitions in has.items():
        yield f"    {client_id!r}: {partitions!r},"
    yield "}"


_BY_NAME: Final = frozenset({"range", "roundrobin"})
"""Assignors whose result follows from the beginnings of member ids, which are client ids; the
result of others depends on the ids that are drawn."""


def _counts(members: list[Plain]) -> Iterator[str]:
    """Yield the lines that assert the number of partitions of each member."""
    many = sorted(sum(map(len, (each["partitions"] or {}).values())) for each in members)
    yield f"assert sorted(len(each.assignment or ()) for each in seen.members) == {many!r}"


_FRAME: Final = '''\
"""{install}, then pytest. Under virtual time: it takes no second."""

import asyncio

from coordinator.testing.virtual import virtual_kafka


def test_story() -> None:
    asyncio.run(story())


async def story() -> None:
    topics = {topics}
    settings = {settings}
    {kinds}
    async with virtual_kafka(topics, {brokers}config=settings, latency_ms={latency}) as kafka:

        async def until(at_ms: int) -> None:
            await asyncio.sleep(max(0, at_ms - kafka.now_ms) / 1000)

        async def after(kind: str, nth: int, delay_ms: int) -> None:
            *_, event = await kafka.wait_for(kind, since=0, count=nth)
            await until(event["at_ms"] + delay_ms)

        peers = {{}}  # put your own consumers in place of some
        {body}
'''
