"""The records of `__share_group_state`, read: what was written comes back, and what is none is passed
over."""

from __future__ import annotations

from random import Random

import pytest

from coordinator.core.share_states.model import NO_COUNT, ShareStateKey
from coordinator.core.share_states.reading import event_of
from coordinator.core.share_states.records import record
from coordinator.events import share_states as ev
from coordinator.events.share_states import StateBatch

TOPIC = bytes(range(16))


def drawn(random: Random) -> tuple[ShareStateKey, ev.Event]:
    """A key and an event."""
    key = ShareStateKey(
        random.choice(("g", "über:1", "x" * 300)), TOPIC, random.randint(0, 1 << 30)
    )
    complete = random.choice((NO_COUNT, 0, 7, (1 << 31) - 1, -5))
    batches = tuple(
        StateBatch(first, first + random.randint(0, 9), random.choice((0, 2, 3, 4)), 1 + first % 5)
        for first in range(random.choice((0, 1, 126, 127, 300)))
    )
    kind = random.randint(0, 2)
    if kind == 0:
        return key, ev.ShareStateDeleted(TOPIC)
    if kind == 1:
        return key, ev.ShareStateUpdated(
            TOPIC, 3, random.randint(-1, 9), 1 << 40, complete, batches
        )
    return key, ev.ShareStateSnapshotted(TOPIC, 0, 5, 6, -1, complete, 1 << 41, 1, batches)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_written_is_read(seed: int) -> None:
    """SH-ST-8: any number of batches, with a count of what is complete and without."""
    random = Random(seed)
    for _ in range(5):
        key, event = drawn(random)
        assert event_of(*record(key, event)) == (key, event)


@pytest.mark.parametrize("seed", range(40))
def test_what_is_no_record_is_passed_over(seed: int) -> None:
    """SH-LD-2: bytes that a client wrote there end no load."""
    random = Random(seed)
    key, value = record(*drawn(random))
    for _ in range(50):
        cut = key[: random.randint(0, len(key))]
        noise = bytes(random.getrandbits(8) for _ in range(random.randint(0, 60)))
        for pair in ((cut, value), (key, noise), (noise, noise), (noise, value), (key, b"")):
            event_of(*pair)
    assert event_of(b"\0\2" + key[2:], value) is None, "another type"
    assert event_of(key[:5], value) is None
    if value is not None:
        assert event_of(key, b"\0\1" + value[2:]) is None, "another version"
        assert event_of(key, value[:-1]) is None
    assert event_of(b"\0\1" + key[2:], None) is None, "an update is never deleted"
