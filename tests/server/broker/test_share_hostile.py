"""A hostile client of share groups: Kafka's error in its place, and neither state nor memory that grows
with what it asks. Slices of large requests: `test_share_slices`; lone ranges: `test_share_groups`."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages import share_group_states
from coordinator.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.server.broker.shares import ShareDriver, initialize

ACCEPT, RELEASE = 1, 2
MOST = (1 << 63) - 1


def staged(**config: str) -> ShareDriver:
    driver = ShareDriver(dict(config))
    initialize(driver)
    driver.records(4, 4)
    return driver


@pytest.mark.parametrize(
    ("ranges", "error"),
    [
        (((0, 3, ACCEPT), (3, 7, ACCEPT)), ErrorCode.INVALID_RECORD_STATE),  # they overlap
        (((4, 7, ACCEPT), (0, 3, ACCEPT)), ErrorCode.INVALID_REQUEST),  # in reverse
        (((0, 0, ACCEPT), (MOST, MOST, ACCEPT)), ErrorCode.INVALID_REQUEST),  # a gap of 2^63
        (((-MOST - 1, MOST, ACCEPT),), ErrorCode.INVALID_REQUEST),
        (((MOST, -MOST - 1, ACCEPT),), ErrorCode.INVALID_REQUEST),
        (((0, 1, ACCEPT, ACCEPT, ACCEPT),), ErrorCode.INVALID_REQUEST),  # types do not fit
        (((0, 7, *(127,) * 8),), ErrorCode.INVALID_REQUEST),
        (((8, 9, ACCEPT),), ErrorCode.INVALID_REQUEST),  # never acquired by anybody
    ],
)
def test_ranges_that_cannot_be_change_nothing(
    ranges: tuple[tuple[int, ...], ...], error: ErrorCode
) -> None:
    """SH-ACK-3: the records stay with their holder, who can still accept them."""
    driver = staged()
    member = driver.member()
    member.fetch(0)
    (one,) = driver.broker.services.shares.partitions.open_ones.values()
    before = one.snapshot()
    assert member.said(*ranges) == error
    assert one.snapshot() == before
    assert member.said((0, 7, ACCEPT)) == 0
    assert one.start_offset == 8


def test_records_of_somebody_else_are_not_acknowledged() -> None:
    """SH-ACK-4: 121; nor is anything of a member that holds nothing, in a session of its own."""
    driver = staged()
    holder, thief = driver.member("holder"), driver.member("thief")
    holder.fetch(0)
    thief.fetch(0)
    assert thief.said((0, 7, ACCEPT)) == ErrorCode.INVALID_RECORD_STATE
    assert holder.said((0, 7, ACCEPT)) == 0


def test_sessions_of_thousands_of_member_ids() -> None:
    """SH-SES-1, SH-SES-4: no more than there may be are kept, nor anything of those that are refused;
    with their connection the last of them ends."""
    driver = staged(**{"group.share.max.share.sessions": "20"})
    member = driver.member()
    errors = set()
    for number in range(2_000):
        member.name, member.epoch = f"id-{number}", 0
        errors.add(member.ask(member.request(0)).error_code)
    shares = driver.broker.services.shares
    assert errors == {0, ErrorCode.SHARE_SESSION_LIMIT_REACHED}
    assert len(shares.sessions) == 20
    assert len(shares.partitions.open_ones) == 1
    member.client.connection.lost()
    driver.settle()
    assert len(shares.sessions) == 19
    assert driver.member("other").ask(member.request(0)).error_code == 0
    member.name, member.epoch, member.client = "id-0", 1, driver.member("another").client
    assert member.said((0, 7, ACCEPT)) == 0


def test_epochs_of_another_life() -> None:
    """SH-SES-1: of a session that was closed, or that another connection began anew: 122 and 123,
    and nothing is acknowledged."""
    driver = staged()
    member = driver.member()
    member.fetch(0)
    again = driver.member()  # the same member id
    assert again.fetch(0) == {}  # its records stay acquired
    member.epoch = 2
    assert member.acknowledge((0, 7, ACCEPT)).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    member.epoch = MOST >> 32
    assert member.acknowledge((0, 7, ACCEPT)).error_code == ErrorCode.INVALID_SHARE_SESSION_EPOCH
    again.epoch = -1
    again.ask(again.request())
    member.epoch = 1
    assert member.acknowledge((0, 7, ACCEPT)).error_code == ErrorCode.SHARE_SESSION_NOT_FOUND
    (one,) = driver.broker.services.shares.partitions.open_ones.values()
    assert one.start_offset == 0


@pytest.mark.parametrize(
    ("leader_epoch", "state_epoch", "error"),
    [
        (2, 5, ErrorCode.FENCED_LEADER_EPOCH),
        (3, 4, ErrorCode.FENCED_STATE_EPOCH),
        (-1, 5, ErrorCode.INVALID_REQUEST),
        (3, -(1 << 31), ErrorCode.INVALID_REQUEST),
    ],
)
def test_states_of_another_life_are_not_written(
    leader_epoch: int, state_epoch: int, error: ErrorCode
) -> None:
    """SH-ST-3: who led before, or knows the state that was there before, is fenced; no record is
    appended."""
    driver = ShareDriver()
    initialize(driver, epoch=5)
    client = driver.client("127.0.0.1:broker")

    def ask(kind: str, **row: int) -> list[int]:
        of_partition = getattr(share_group_states, f"{kind}StatePartitionData")
        data = getattr(share_group_states, f"{kind}StateData")(
            topic_id=driver.t.id, partitions=[of_partition(partition=0, **row)]
        )
        request = getattr(share_group_states, f"{kind}ShareGroupStateRequest")(
            group_id="g", topics=[data]
        )
        answer: Any = client.ask(request, 0)
        return [row.error_code for of in answer.results for row in of.partitions]

    assert ask("Read", leader_epoch=3) == [0]
    topic = driver.broker.cluster.topics["__share_group_state"]
    before = sum(of.log.log_end_offset for of in topic.partitions)
    told = ask("Write", leader_epoch=leader_epoch, state_epoch=state_epoch, start_offset=5)
    assert told == [error]
    assert sum(of.log.log_end_offset for of in topic.partitions) == before
    assert ask("Write", leader_epoch=3, state_epoch=5, start_offset=5) == [0]


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("share.record.lock.duration.ms", "1", "Value must be at least 1000"),
        ("share.record.lock.duration.ms", "9" * 9, "in the range 15000 to 60000"),
        ("share.delivery.count.limit", "1", "share.delivery.count.limit"),
        ("share.auto.offset.reset", "by_duration:-P1D", "by_duration"),
        ("share.heartbeat.interval.ms", "x" * 30_000, "share.heartbeat.interval.ms"),
    ],
)
def test_a_setting_beyond_its_bounds(name: str, value: str, said: str) -> None:
    """40 with a text that says which; the group keeps what it had."""
    driver = staged()
    before = dict(driver.broker.cluster.group_configs["g"])
    row = AlterableConfig(name=name, config_operation=0, value=value)
    resource = AlterConfigsResource(resource_type=32, resource_name="g", configs=[row])
    answer: Any = driver.client("127.0.0.1:admin").ask(
        IncrementalAlterConfigsRequest(resources=[resource]), 1
    )
    (result,) = answer.responses
    assert result.error_code == ErrorCode.INVALID_CONFIG
    assert said in result.error_message
    assert driver.broker.cluster.group_configs["g"] == before
