"""Rights are looked at in slices: whatever a request names, and whatever may be done of it, other
requests come between. `tests/server/broker/test_slices.py` has the same without an authorizer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.releases import NEWEST
from coordinator.base.slices import ITEMS_A_STEP
from coordinator.events.acls import read_acl
from coordinator.server import apis
from coordinator.server.authorization.table import CHECKS, TOPIC, WHOLE
from coordinator.server.security.authorizer import Authorizer
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.messages.list_groups import ListGroupsRequest, ListGroupsResponse
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.source import ELEMENTS_A_STEP
from tests.server.broker.test_slices import BEAT, Turns, large_requests, long_request
from tests.server.security.driver import SecuredClient, SecuredDriver

pytestmark = pytest.mark.unmeasured

REFUSED = ErrorCode.TOPIC_AUTHORIZATION_FAILED
RIGHTS = {
    "nothing": ("User:bob may All cluster",),
    "no topic": (
        "User:alice may All group *",
        "User:alice may All cluster",
        "User:alice may All transactionalid *",
    ),
    "one operation": (
        "User:alice may Describe topic *",
        "User:alice may Describe group *",
        "User:alice may Describe transactionalid *",
    ),
}
"""Everything is refused; the request is let through, and each topic is not; it is seen, and no
more."""


def cases() -> Iterator[object]:
    """Every long array of an API that asks for rights, beside rights that make a difference there;
    one of them stands for the others."""
    for key, version, path in large_requests():
        api = apis.title(key)
        checks = CHECKS.get(api, ())
        if all(check.how == WHOLE for check in checks):
            told = ["nothing"] if checks else []
        elif any(check.resource is TOPIC for check in checks):
            told = ["no topic", "nothing", "one operation"]
        else:
            told = ["nothing", "one operation"]
        for rights in told:
            marks = () if rights == told[0] else pytest.mark.thorough
            yield pytest.param(key, version, path, rights, id=f"{api}-{path}-{rights}", marks=marks)


def secured(*rights: str, topics: Iterable[str] = ()) -> SecuredDriver:
    made = SecuredDriver(["t:4", "u:4", *topics])
    made.security.authorizer = Authorizer(map(read_acl, rights))
    return made


def logged_in(driver: SecuredDriver) -> SecuredClient:
    client = driver.client()
    client.log_in("alice")
    return client


@pytest.mark.parametrize(("key", "version", "path", "rights"), list(cases()))
def test_no_request_is_judged_in_one_piece(key: int, version: int, path: str, rights: str) -> None:
    """A long array is decoded, judged, handled and answered in slices."""
    driver = secured(*RIGHTS[rights])
    client = logged_in(driver)
    api = apis.apis_of(NEWEST)[key]
    assert api is not None
    request, count = long_request(api, version, path)
    turns = Turns(driver)
    turns.feed(client, client.frame(request, version))
    turns.run()
    assert client.writes or client.closed is not None or driver.broker.parked
    assert client.fault is None
    assert turns.taken >= count // ELEMENTS_A_STEP


def names(count: int) -> MetadataRequest:
    topics = [MetadataRequestTopic(name=f"n-{number}") for number in range(count)]
    return MetadataRequest(topics=[*topics, MetadataRequestTopic(name="t")])


def shown(client: SecuredClient) -> dict[str | None, int]:
    (answer,) = client.answers()
    assert isinstance(answer, MetadataResponse)
    return {topic.name: topic.error_code for topic in answer.topics}


def test_a_heartbeat_is_answered_between_two_slices_of_a_decision() -> None:
    """Before the first topic is answered for, and again while refusals are put in their places."""
    driver = secured("User:alice may Describe topic t", "User:alice may Read group g")
    hostile, member = logged_in(driver), logged_in(driver)
    turns = Turns(driver)
    turns.feed(hostile, hostile.frame(names(9_000), 12))
    answered = 0
    while not hostile.writes:
        assert turns.next()
        turns.feed(member, member.frame(BEAT, 4))
        answered += len(member.answers())
    assert shown(hostile) == {"t": 0} | {f"n-{number}": REFUSED for number in range(9_000)}
    assert answered > 3 * 9_000 // ITEMS_A_STEP


def test_what_is_refused_is_logged_when_it_is_decided() -> None:
    """Others write to the log meanwhile: its times never go back."""
    driver = secured("User:alice may Read group g")
    hostile, member = logged_in(driver), logged_in(driver)
    turns = Turns(driver)
    turns.feed(hostile, hostile.frame(names(9_000), 12))
    while turns.next():
        driver.now += 1
        turns.feed(member, member.frame(BEAT, 4))
    times = [line["at_ms"] for line in driver.log.events()]
    refused = driver.lines("AuthorizationRefused")
    assert len(refused) == 20
    assert refused[0]["at_ms"] > 9_000 // ITEMS_A_STEP
    assert times == sorted(times)


def test_a_right_that_is_given_in_the_middle_holds_for_what_is_not_looked_at_yet() -> None:
    """And an answer that tells of all topics is not kept, if it does not follow from the ACLs."""
    others = [f"n-{number}:1" for number in range(200)]
    driver = secured("User:alice may Describe topic t", topics=others)
    client = logged_in(driver)
    authorizer = driver.security.authorizer
    assert authorizer is not None
    turns = Turns(driver)
    turns.feed(client, client.frame(MetadataRequest(topics=None), 12))
    authorizer.add([read_acl("User:alice may Describe topic *")])
    turns.run()
    assert 1 < len(shown(client)) < 200
    turns.feed(client, client.frame(MetadataRequest(topics=None), 12))
    turns.run()
    assert set(shown(client)) == set(driver.broker.cluster.topics)


def test_many_groups_are_looked_at_in_slices_though_nobody_named_them() -> None:
    """ListGroups is a small request whatever there is (REF-5)."""
    driver = secured("User:alice may Describe group g-7")
    client, bob = logged_in(driver), driver.client()
    bob.log_in("bob")
    assert driver.security.authorizer is not None
    driver.security.authorizer.add([read_acl("User:bob may All group *")])
    driver.security.authorizer.add([read_acl("User:bob may All topic t")])
    partitions = [OffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
    topics = [OffsetCommitRequestTopic(name="t", partitions=partitions)]
    for number in range(1_000):
        bob.ask(OffsetCommitRequest(group_id=f"g-{number}", topics=topics), 8)
    turns = Turns(driver)
    turns.feed(client, client.frame(ListGroupsRequest(), 4))
    turns.run()
    (answer,) = client.answers()
    assert isinstance(answer, ListGroupsResponse)
    assert [group.group_id for group in answer.groups] == ["g-7"]
    assert turns.taken > 1_000 // ITEMS_A_STEP


def test_a_large_request_without_an_answer_is_done_before_its_connection_is_closed() -> None:
    """REF-2: what is allowed of a Produce with acks=0 is kept, though the rest closes."""
    driver = secured("User:alice may Write topic t")
    client = logged_in(driver)
    batch = build_batch([b"x" * 30_000])
    rows = [PartitionProduceData(index=index, records=batch) for index in range(3)]
    topics = [TopicProduceData(name=name, partition_data=rows) for name in ("u", "t")]
    turns = Turns(driver)
    request = ProduceRequest(acks=0, timeout_ms=1_000, topic_data=topics)
    turns.feed(client, client.frame(request, 8))
    turns.run()
    assert client.closed is not None
    assert "acks=0" in client.closed
    for topic, kept in (("t", 1), ("u", 0)):
        for partition in driver.broker.cluster.topics[topic].partitions[:3]:
            assert partition.log.high_watermark == kept
