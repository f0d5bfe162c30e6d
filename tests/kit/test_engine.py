"""Faults in force at a broker: each action as its client sees it, which requests it meets, and how
they count."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.kit import faults as f
from coordinator.kit.injection.engine import Active, FaultEngine
from coordinator.server.interceptors import Interceptors
from coordinator.server.requests.call import Call
from coordinator.server.requests.refusals import Place
from coordinator.wire.messages.acls import AclCreation, CreateAclsRequest
from coordinator.wire.messages.fetch import FetchRequest
from coordinator.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from coordinator.wire.messages.leave_group import LeaveGroupRequest
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.server.broker.driver import Driver

_E = ErrorCode


class Around:
    """What is to be known about groups, as a test says."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}

    def state_of(self, group: str) -> str | None:
        return self.states.get(group)

    def has_client(self, group: str, client_id: str) -> bool:
        return (group, client_id) == ("g", "test")

    def topic_name(self, topic_id: bytes) -> str | None:
        return None

    def fetched(self, message: FetchRequest) -> list[Place]:
        return []


class Stage:
    """A broker with faults at it."""

    def __init__(self) -> None:
        self.driver = Driver(["a:2", "b"])
        self.around = Around()
        self.told: list[str] = []
        self.engine = FaultEngine(1, self.around, Random(7), self._note)
        self.driver.broker.interceptors.append(self.engine)

    def _note(self, active: Active, call: Call, api: str) -> None:
        self.told.append(f"{api} {active.fault.action.kind}")

    def add(
        self,
        action: f.Action,
        *,
        nth: int = 1,
        times: int | None = None,
        probability: float = 1.0,
        **selector: Any,
    ) -> Active:
        active = Active(
            len(self.engine.active) + 1,
            f.Fault(f.Selector(**selector), action, nth, times, probability),
        )
        self.engine.add(active)
        return active


def _heartbeat(member: str = "m", generation: int = 1) -> HeartbeatRequest:
    return HeartbeatRequest(group_id="g", member_id=member, generation_id=generation)


def _commit(*partitions: tuple[str, int]) -> OffsetCommitRequest:
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for topic, index in partitions:
        topics.setdefault(topic, []).append(
            OffsetCommitRequestPartition(partition_index=index, committed_offset=1)
        )
    rows = [OffsetCommitRequestTopic(name=name, partitions=found) for name, found in topics.items()]
    return OffsetCommitRequest(group_id="g", topics=rows)


def _codes(answer: Any) -> list[tuple[str, int, int]]:
    return [
        (topic.name, row.partition_index, row.error_code)
        for topic in answer.topics
        for row in topic.partitions
    ]


_OK = HeartbeatResponse(error_code=_E.UNKNOWN_MEMBER_ID)
"""What the broker itself says to a heartbeat here."""


def test_a_failed_request_is_answered_with_the_error_and_counted() -> None:
    stage = Stage()
    active = stage.add(f.Fail(_E.REBALANCE_IN_PROGRESS), api="Heartbeat", group="g", times=2)
    client = stage.driver.client()
    assert [client.ask(_heartbeat(), 4) for _ in range(3)] == [
        HeartbeatResponse(error_code=27),
        HeartbeatResponse(error_code=27),
        _OK,
    ]
    assert (active.hits, active.seen, active.spent) == (2, 2, True)
    assert stage.told == ["Heartbeat fail", "Heartbeat fail"]


def test_what_fails_is_not_done_and_the_rest_is() -> None:
    stage = Stage()
    stage.add(f.Fail(_E.UNKNOWN_TOPIC_OR_PARTITION), api="OffsetCommit", topic="a", partition=1)
    client = stage.driver.client()
    assert _codes(client.ask(_commit(("a", 0), ("a", 1), ("b", 0)), 9)) == [
        ("a", 0, 0),
        ("a", 1, 3),
        ("b", 0, 0),
    ]
    wanted = [OffsetFetchRequestTopics(name="a", partition_indexes=[0, 1])]
    answer: Any = client.ask(
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=wanted)]), 9
    )
    assert [row.committed_offset for row in answer.groups[0].topics[0].partitions] == [1, -1]


def test_a_request_whose_answer_has_errors_in_rows_alone_fails_in_each_row() -> None:
    stage = Stage()
    stage.add(f.Fail(_E.CLUSTER_AUTHORIZATION_FAILED), api="CreateAcls")
    client = stage.driver.client()
    answer: Any = client.ask(CreateAclsRequest(creations=[AclCreation(), AclCreation()]), 3)
    assert [row.error_code for row in answer.results] == [31, 31]


def test_two_faults_fail_different_partitions_of_one_request() -> None:
    stage = Stage()
    stage.add(f.Fail(_E.UNKNOWN_TOPIC_OR_PARTITION), topic="a", partition=0)
    stage.add(f.Fail(_E.TOPIC_AUTHORIZATION_FAILED), topic="b")
    assert _codes(stage.driver.client().ask(_commit(("a", 0), ("a", 1), ("b", 0)), 9)) == [
        ("a", 0, 3),
        ("a", 1, 0),
        ("b", 0, 29),
    ]


def test_an_answer_that_was_encoded_ahead_is_opened_for_a_fault() -> None:
    stage = Stage()
    client = stage.driver.client()
    request = MetadataRequest(
        topics=[MetadataRequestTopic(name="a"), MetadataRequestTopic(name="b")]
    )
    client.ask(request, 12)
    stage.add(f.Fail(_E.LEADER_NOT_AVAILABLE), api="Metadata", topic="b")
    answer: Any = client.ask(request, 12)
    assert [(topic.name, topic.error_code, len(topic.partitions)) for topic in answer.topics] == [
        ("a", 0, 2),
        ("b", 5, 0),
    ]
    assert answer.brokers


def test_delays_of_requests_and_answers() -> None:
    stage = Stage()
    stage.add(f.Delay(50), api="Heartbeat")
    stage.add(f.Delay(30, answer=True), api="Heartbeat")
    client = stage.driver.client()
    client.send(_heartbeat(), 4)
    stage.driver.pass_time(79)
    assert not client.answers()
    stage.driver.pass_time(1)
    assert client.answers() == [_OK]


def test_a_held_request_waits_until_it_is_released_and_is_then_handled() -> None:
    stage = Stage()
    active = stage.add(f.Hold(), api="OffsetCommit", times=1)
    client = stage.driver.client()
    client.send(_commit(("a", 0)), 9)
    stage.driver.pass_time(1_000_000)
    assert not client.answers()
    (token,) = active.held
    assert stage.driver.broker.parked.release(token, stage.driver.now)
    stage.driver.settle()
    assert [_codes(answer) for answer in client.answers()] == [[("a", 0, 0)]]
    assert not stage.driver.broker.parked.release(token, stage.driver.now), "it is held no more"


def test_a_lost_request_is_not_handled_and_a_lost_answer_is() -> None:
    stage = Stage()
    stage.add(f.LoseRequest(), api="OffsetCommit", times=1)
    stage.add(f.LoseAnswer(), api="OffsetCommit", times=1)
    first, second, third = (stage.driver.client() for _ in range(3))
    first.send(_commit(("a", 0)), 9)
    second.send(_commit(("a", 1)), 9)
    assert not first.answers()
    assert not second.answers()
    answer: Any = third.ask(
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)]), 9
    )
    assert [
        (topic.name, row.partition_index)
        for topic in answer.groups[0].topics
        for row in topic.partitions
    ] == [("a", 1)]


@pytest.mark.parametrize("after", [False, True])
def test_a_cut_connection_is_closed_before_or_after_the_request_is_handled(after: bool) -> None:
    stage = Stage()
    stage.add(f.Disconnect(after), api="OffsetCommit")
    client, other = stage.driver.client(), stage.driver.client()
    client.send(_commit(("a", 0)), 9)
    assert client.closed is not None
    assert "injected" in client.closed
    answer: Any = other.ask(
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id="g", topics=None)]), 9
    )
    assert len(answer.groups[0].topics) == after


def test_a_garbled_answer_keeps_its_frame_and_none_of_its_bytes() -> None:
    stage = Stage()
    client = stage.driver.client()
    client.send(_heartbeat(), 3)
    (plain,) = client.writes
    stage.add(f.Garble(), api="Heartbeat")
    client.send(_heartbeat(), 3)
    garbled = client.writes[-1]
    assert garbled[:4] == plain[:4]
    assert all(a ^ b == 0xFF for a, b in zip(garbled[8:], plain[8:], strict=True))


@pytest.mark.parametrize("late", [False, True])
def test_a_duplicated_answer_is_written_twice_and_told_once(late: bool) -> None:
    stage = Stage()
    client, seen = stage.driver.client(), []

    class Teller:
        def __call__(self, call: Call) -> None: ...

        def saw_answer(self, call: Call, answer: object, now: int) -> None:
            seen.append(answer)

    stage.driver.broker.interceptors.append(Teller())
    stage.add(f.DuplicateAnswer(), api="Heartbeat", times=1)
    if late:
        stage.add(f.Delay(100, answer=True), api="Heartbeat", times=1)
    client.send(_heartbeat(), 3)
    if late:
        assert client.writes == []
        stage.driver.pass_time(100)
    (twice,) = client.writes
    client.writes.clear()
    assert seen == [HeartbeatResponse(error_code=_E.UNKNOWN_MEMBER_ID)], "its errors are known"
    assert twice[: len(twice) // 2] == twice[len(twice) // 2 :]
    client.send(_heartbeat(), 3)
    assert len(client.writes[-1]) == len(twice) // 2, "the next one is written once"


def test_a_throttled_answer_says_for_how_long() -> None:
    stage = Stage()
    stage.add(f.Throttle(700), api="Heartbeat")
    assert stage.driver.client().ask(_heartbeat(), 4) == HeartbeatResponse(
        error_code=25, throttle_time_ms=700
    )


def test_observing_counts_and_changes_nothing() -> None:
    stage = Stage()
    active = stage.add(f.Observe(), group="g", nth=2)
    client = stage.driver.client()
    for _ in range(3):
        assert client.ask(_heartbeat(), 4) == _OK
    assert (active.seen, active.hits) == (3, 2)


@pytest.mark.parametrize(
    ("selector", "hits"),
    [
        ({"member": "m"}, 1),
        ({"member": "n"}, 0),
        ({"generation": 1}, 1),
        ({"generation": 2}, 0),
        ({"client_id": "test"}, 1),
        ({"client_id": "other"}, 0),
        ({"broker": 1}, 1),
        ({"broker": 2}, 0),
        ({"phase": "joining"}, 1),
        ({"phase": "Stable"}, 0),
        ({"group": "h"}, 0),
        ({"instance_id": "i"}, 0),
        ({"transactional_id": "t"}, 0),
        ({"topic": "a"}, 0),
    ],
)
def test_each_word_of_a_selector_selects(selector: dict[str, Any], hits: int) -> None:
    stage = Stage()
    stage.around.states["g"] = "PreparingRebalance"
    active = stage.add(f.Observe(), **selector)
    stage.driver.client().ask(_heartbeat(), 4)
    assert active.hits == hits


def test_probability_is_drawn_from_the_seed() -> None:
    def hits() -> int:
        stage = Stage()
        active = stage.add(f.Observe(), probability=0.5)
        client = stage.driver.client()
        for _ in range(100):
            client.ask(_heartbeat(), 4)
        return active.hits

    assert 0 < hits() < 100
    assert hits() == hits()


def test_of_requests_of_other_apis_no_fault_is_asked() -> None:
    interceptors, engine = Interceptors(), FaultEngine(1, None, Random(1))  # type: ignore[arg-type]
    interceptors.append(engine)
    heartbeat, fetch = f.API_NAMES["Heartbeat"], f.API_NAMES["Fetch"]
    assert (interceptors.asked[heartbeat], interceptors.asked[fetch]) == ((), ())
    engine.add(Active(1, f.Fault(f.Selector(api="Fetch"))))
    assert (interceptors.asked[heartbeat], interceptors.asked[fetch]) == ((), (engine,))
    engine.add(Active(2, f.Fault()))
    assert interceptors.asked[heartbeat] == (engine,)
    engine.remove(2)
    assert interceptors.asked[heartbeat] == ()
    interceptors.insert(0, lambda call: None)
    assert (
        len(interceptors),
        len(interceptors.asked[heartbeat]),
        len(interceptors.asked[fetch]),
    ) == (2, 1, 2)
    del interceptors[0]
    interceptors.remove(engine)
    assert (interceptors.asked[fetch], interceptors) == ((), [])


def test_faults_of_one_group_leave_others_alone_whatever_is_in_force_beside_them() -> None:
    stage = Stage()
    client = stage.driver.client()
    of_g, of_another = (
        stage.add(f.Observe(), api="Heartbeat", group=group) for group in ("g", "another")
    )
    client.ask(_heartbeat(), 4)
    assert (of_g.hits, of_another.hits) == (1, 0)
    of_any_api, of_commits = (
        stage.add(f.Observe(), group="third"),
        stage.add(f.Observe(), api="OffsetCommit"),
    )
    client.ask(_heartbeat(), 4)
    client.ask(_commit(("a", 0)), 9)
    client.ask(HeartbeatRequest(group_id="third", member_id="m", generation_id=1), 4)
    client.ask(LeaveGroupRequest(group_id="third", member_id="m"), 2)
    assert (of_g.hits, of_another.hits, of_any_api.hits, of_commits.hits) == (2, 0, 2, 1)
    of_all = stage.add(f.Observe())
    client.ask(_heartbeat(), 4)
    client.ask(HeartbeatRequest(group_id="", member_id="m", generation_id=1), 4)
    assert (of_g.hits, of_another.hits, of_any_api.hits, of_all.hits) == (3, 0, 2, 2)


def test_whatever_changes_the_list_renews_who_is_asked() -> None:
    """Every method of a list that changes it: nobody is asked, or asked first, by how the list was
    before."""
    heartbeat = f.API_NAMES["Heartbeat"]

    class Named:
        def __init__(self, name: str) -> None:
            self.name = name

        def __call__(self, call: Call) -> None:
            """Has no opinion."""

        def saw_answer(self, *_: object) -> None:
            """Is told of answers."""

    def imul(interceptors: Interceptors) -> None:
        interceptors *= 2

    def iadd(interceptors: Interceptors) -> None:
        interceptors += [Named("c")]

    changes: dict[str, Callable[[Interceptors], object]] = {
        "append": lambda i: i.append(Named("c")),
        "insert": lambda i: i.insert(0, Named("c")),
        "extend": lambda i: i.extend([Named("c")]),
        "remove": lambda i: i.remove(i[0]),
        "pop": lambda i: i.pop(),
        "clear": lambda i: i.clear(),
        "sort": lambda i: i.sort(key=lambda each: each.name, reverse=True),  # type: ignore[attr-defined]
        "reverse": lambda i: i.reverse(),
        "__setitem__": lambda i: i.__setitem__(0, Named("c")),
        "__delitem__": lambda i: i.__delitem__(0),
        "__iadd__": iadd,
        "__imul__": imul,
    }
    own = {name for name in vars(list) if callable(getattr(list, name))}
    reads = {
        "__init__",
        "__new__",
        "__repr__",
        "__getattribute__",
        "__lt__",
        "__le__",
        "__eq__",
        "__ne__",
        "__gt__",
        "__ge__",
        "__iter__",
        "__len__",
        "__getitem__",
        "__add__",
        "__mul__",
        "__rmul__",
        "__contains__",
        "__reversed__",
        "__sizeof__",
        "__class_getitem__",
        "copy",
        "index",
        "count",
    }
    assert own - reads == changes.keys()
    for name, change in changes.items():
        interceptors = Interceptors()
        interceptors.extend([Named("a"), Named("b")])
        before = interceptors.asked[heartbeat]
        change(interceptors)
        assert list(before) != interceptors, name
        assert list(interceptors.asked[heartbeat]) == interceptors, name
        assert interceptors.tellers == [each.saw_answer for each in interceptors], name  # type: ignore[attr-defined]
