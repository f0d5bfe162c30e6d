"""The records of `__share_group_state` are enough to have every state back: what a broker would read that
takes the log over is what the share coordinator serves (SH-ST-8, SH-LD-1)."""

from __future__ import annotations

from struct import unpack_from

import pytest

from coordinator.core.share_states.evolve import evolve
from coordinator.core.share_states.model import NO_COUNT, ShareState, ShareStateKey
from coordinator.core.share_states.reading import event_of
from coordinator.core.share_states.records import record
from coordinator.events import share_states as ev
from coordinator.events.share_states import StateBatch
from coordinator.server.storage.record_codec import read_records
from coordinator.server.storage.records import parse_header
from tests.server.broker.shares import ShareDriver, initialize

ACCEPT, RELEASE, REJECT = 1, 2, 3
UPDATES = "share.coordinator.snapshot.update.records.per.snapshot"
_HEADER_BYTES = 61


def read(key: bytes, value: bytes | None) -> tuple[ShareStateKey, ev.Event]:
    """A record, apart from the code that writes it."""
    kind, length = unpack_from(">hh", key)
    at = 4 + length
    of = ShareStateKey(key[4:at].decode(), key[at : at + 16], *unpack_from(">i", key, at + 16))
    if value is None:
        return of, ev.ShareStateDeleted(of.topic_id)
    if kind == 1:
        _, epoch, leader, start = unpack_from(">hiiq", value)
        rest = value[18:]
    else:
        _, epoch, state, leader, start, made, written = unpack_from(">hiiiqqq", value)
        rest = value[38:]
    count = rest[0] - 1  # fewer than 127 here
    batches = tuple(
        StateBatch(*unpack_from(">qqbh", rest, 1 + number * 20)) for number in range(count)
    )
    tags = rest[1 + count * 20 :]
    complete = unpack_from(">i", tags, 3)[0] if tags[0] else NO_COUNT
    if kind == 1:
        return of, ev.ShareStateUpdated(of.topic_id, epoch, leader, start, complete, batches)
    event = ev.ShareStateSnapshotted(
        of.topic_id, epoch, state, leader, start, complete, made, written, batches
    )
    return of, event


def read_back(driver: ShareDriver) -> dict[ShareStateKey, ShareState]:
    """All states, from the records alone; each record is written again byte for byte."""
    found: dict[ShareStateKey, ShareState] = {}
    for partition in driver.broker.cluster.topics["__share_group_state"].partitions:
        data = partition.log.read(0, 1 << 30)
        while data:
            header = parse_header(data)
            size = 12 + unpack_from(">i", data, 8)[0]
            for each in read_records(header, data[_HEADER_BYTES:size]):
                assert each.key is not None
                key, event = read(each.key, each.value)
                assert record(key, event) == (each.key, each.value)
                assert event_of(each.key, each.value) == (key, event)
                if isinstance(event, ev.ShareStateDeleted):
                    del found[key]
                else:
                    evolve(found.setdefault(key, ShareState()), event)
            data = data[size:]
    return found


@pytest.mark.parametrize("updates", ["0", "3", "500"])
def test_what_is_read_back_is_what_is_served(updates: str) -> None:
    """With snapshots always, now and then, and never; of two groups."""
    driver = ShareDriver({UPDATES: updates})
    initialize(driver)
    driver.configure("other", share_auto_offset_reset="earliest")
    initialize(driver, "other")
    for index in range(3):
        driver.records(3, 4, 2, index=index)
    a, b = driver.member("a"), driver.member("b", "other")
    for member in (a, b):
        member.fetch(0, 1, 2)
    a.said((0, 1, ACCEPT), (2, 2, RELEASE))
    a.said((3, 5, REJECT))
    driver.pass_time(30_000)  # all locks end
    a.fetch()
    a.said((2, 4, ACCEPT))
    a.said((6, 8, ACCEPT))
    b.fetch()
    b.said((0, 8, ACCEPT))
    states = driver.broker.services.shares.states
    back = read_back(driver)
    assert len(back) == 6
    assert {key: of.snapshot() for key, of in back.items()} == {
        key: of.snapshot() for key, of in states.states.items()
    }
