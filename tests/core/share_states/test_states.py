"""The stored states of share partitions: what each request makes of one, as a Kafka 4.4.0 broker
answered it, and the records that it wrote."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from random import Random

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.share_states import decide
from coordinator.core.share_states.batches import combined
from coordinator.core.share_states.evolve import evolve
from coordinator.core.share_states.model import ShareState, ShareStateKey
from coordinator.core.share_states.records import record
from coordinator.events import share_states as ev
from coordinator.events.share_states import StateBatch

TOPIC = bytes.fromhex("feb58184c82081d2ff480ea290909dd5")
KEY = ShareStateKey("g", TOPIC, 0)


class Kept:
    """One share partition's state, and what happened to it."""

    def __init__(self, updates_a_snapshot: int = 500) -> None:
        self.state: ShareState | None = None
        self.events: list[ev.Event] = []
        self.updates_a_snapshot = updates_a_snapshot

    def _do(self, decision: decide.Decision) -> ErrorCode:
        event = decision.event
        if event is not None:
            self.events.append(event)
            if isinstance(event, ev.ShareStateDeleted):
                self.state = None
            else:
                self.state = self.state or ShareState()
                evolve(self.state, event)
        return decision.error

    def initialize(self, state_epoch: int, start: int = -1, *, known: bool = True) -> ErrorCode:
        """InitializeShareGroupState."""
        asked = self._asked(known)
        return self._do(decide.decide_initialize(self.state, asked, state_epoch, start))

    def read(self, leader_epoch: int, *, known: bool = True) -> ErrorCode:
        """ReadShareGroupState."""
        return self._do(decide.decide_read(self.state, self._asked(known), leader_epoch))

    def write(
        self,
        start: int,
        complete: int = -1,
        *batches: tuple[int, int, int, int],
        epochs: tuple[int, int] = (9, 9),
    ) -> ErrorCode:
        """WriteShareGroupState; `epochs`: state and leader."""
        written = decide.Written(*epochs, start, complete, tuple(StateBatch(*of) for of in batches))
        return self._do(decide.decide_write(self.state, self._asked(True), written))

    def _asked(self, known: bool) -> decide.Asked:
        return decide.Asked(TOPIC, 0, known, 7, self.updates_a_snapshot)


def test_what_was_never_initialized() -> None:
    """SH-ST-2, SH-ST-3, SH-ST-4: it is neither read nor written, and deleted without a record."""
    kept = Kept()
    assert kept.read(0) is ErrorCode.INVALID_REQUEST
    assert kept.write(0) is ErrorCode.INVALID_REQUEST
    assert decide.decide_delete(None, decide.Asked(TOPIC, 0, True, 7, 500)) == decide.Decision()
    refused = decide.decide_delete(None, decide.Asked(TOPIC, 0, False, 7, 500))
    assert refused.error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert not kept.events


def test_state_epochs_fence() -> None:
    """SH-ST-1: an older epoch may not initialize, the same or a newer one begins anew."""
    kept = Kept()
    assert kept.initialize(3) is ErrorCode.NONE
    assert kept.initialize(2) is ErrorCode.FENCED_STATE_EPOCH
    assert kept.initialize(3) is ErrorCode.NONE
    assert kept.initialize(4, 10) is ErrorCode.NONE
    assert kept.write(10, epochs=(3, 0)) is ErrorCode.FENCED_STATE_EPOCH
    assert kept.initialize(5, known=False) is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    state = kept.state
    assert state is not None
    assert (state.snapshot_epoch, state.state_epoch, state.start_offset) == (2, 4, 10)
    assert state.complete_count == 0
    assert kept.initialize(-1) is ErrorCode.INVALID_REQUEST


def test_leader_epochs_fence_by_reading() -> None:
    """SH-ST-2: a leader that reads shuts out those before it; a write raises nothing; a new
    initialization forgets who leads, and not who is fenced."""
    kept = Kept()
    kept.initialize(4)
    assert kept.read(5) is ErrorCode.NONE
    assert kept.read(4) is ErrorCode.FENCED_LEADER_EPOCH
    assert kept.write(0, epochs=(4, 4)) is ErrorCode.FENCED_LEADER_EPOCH
    assert kept.write(0, epochs=(4, 6)) is ErrorCode.NONE
    assert kept.state is not None
    assert kept.state.leader_epoch == 5
    written = len(kept.events)
    assert kept.read(5) is ErrorCode.NONE
    assert len(kept.events) == written, "who read already writes nothing"
    kept.initialize(6)
    assert kept.state.leader_epoch == 0
    assert kept.read(4) is ErrorCode.FENCED_LEADER_EPOCH


@pytest.mark.parametrize(
    ("start", "complete", "after"),
    [
        (11, 5, (12, 3)),
        (12, 1, (12, 3)),
        (12, 4, (12, 4)),
        (-1, 4, (12, 3)),
        (13, -4, (13, -4)),
    ],
)
def test_the_start_never_goes_back(start: int, complete: int, after: tuple[int, int]) -> None:
    """SH-ST-3: with a start that is behind, its count is not taken either."""
    kept = Kept()
    kept.initialize(0, 10)
    kept.write(12, 3)
    kept.write(start, complete)
    assert kept.state is not None
    assert (kept.state.start_offset, kept.state.complete_count) == after


def test_after_so_many_updates_a_snapshot() -> None:
    """SH-ST-3: share.coordinator.snapshot.update.records.per.snapshot; reads count too."""
    kept = Kept(updates_a_snapshot=2)
    kept.initialize(0, 0)
    kept.write(0, 1, (0, 0, 2, 1))
    kept.read(1)
    kept.write(0, 2, (1, 1, 2, 1))
    kinds = [type(event) for event in kept.events]
    assert kinds == [
        ev.ShareStateSnapshotted,
        ev.ShareStateUpdated,
        ev.ShareStateUpdated,
        ev.ShareStateSnapshotted,
    ]
    last = kept.events[-1]
    assert isinstance(last, ev.ShareStateSnapshotted)
    assert last.batches == (StateBatch(0, 1, 2, 1),)
    assert last.snapshot_epoch == 1


def test_a_read_is_written_in_a_snapshot_too() -> None:
    """SH-ST-3: with the new leader's epoch, and all that is stored."""
    kept = Kept(updates_a_snapshot=1)
    kept.initialize(0, 0)
    kept.write(0, 1, (0, 0, 2, 1))
    assert kept.read(3) is ErrorCode.NONE
    last = kept.events[-1]
    assert isinstance(last, ev.ShareStateSnapshotted)
    assert (last.leader_epoch, last.snapshot_epoch) == (3, 1)
    assert last.batches == (StateBatch(0, 0, 2, 1),)


@pytest.mark.parametrize(
    ("limit", "kind"), [(3, ev.ShareStateSnapshotted), (4, ev.ShareStateUpdated)]
)
def test_an_initialization_ends_no_count(limit: int, kind: type) -> None:
    """SH-ST-3: updates from before it count on, if they were not enough for a snapshot."""
    kept = Kept(updates_a_snapshot=limit)
    kept.initialize(0, 0)
    kept.write(0, 1, (0, 0, 2, 1))
    kept.write(0, 1, (1, 1, 2, 1))
    kept.initialize(1, 0)
    kept.write(0, 1, (0, 0, 2, 1), epochs=(1, 0))
    kept.write(0, 1, (1, 1, 2, 1), epochs=(1, 0))
    assert type(kept.events[-1]) is kind
    enough = Kept(updates_a_snapshot=2)
    enough.initialize(0, 0)
    enough.write(0, 1)
    enough.write(0, 1)
    enough.initialize(1, 0)
    assert enough.state is not None and enough.state.updates == 0


def expected(batches: Iterable[StateBatch], start: int) -> dict[int, tuple[int, int]]:
    """Count and state of each offset, the plainest way."""
    found: dict[int, tuple[int, int]] = {}
    for of in batches:
        for offset in range(max(of.first_offset, start), of.last_offset + 1):
            found[offset] = max(found.get(offset, (-1, -1)), (of.delivery_count, of.delivery_state))
    return found


@pytest.mark.parametrize("seed", range(300))
def test_batches_are_combined(seed: int) -> None:
    """SH-ST-7: the higher count wins, then the higher state; neighbours are joined."""
    random = Random(seed)
    given = []
    for _ in range(random.randint(2, 9)):
        first = random.randint(0, 30)
        given.append(
            StateBatch(
                first, first + random.randint(0, 9), random.choice((0, 2, 4)), random.randint(1, 3)
            )
        )
    start = random.choice((-1, 0, 12))
    made = combined(given[:3], given[3:], start)
    offsets = {
        offset: (of.delivery_count, of.delivery_state)
        for of in made
        for offset in range(of.first_offset, of.last_offset + 1)
    }
    assert offsets == expected(given, start)
    assert sum(of.last_offset - of.first_offset + 1 for of in made) == len(offsets)
    for one, two in itertools.pairwise(made):
        assert one.last_offset < two.first_offset
        assert one.last_offset + 1 < two.first_offset or one[2:] != two[2:]


@pytest.mark.parametrize(
    ("event", "key", "value"),
    [
        (
            ev.ShareStateSnapshotted(TOPIC, 0, 3, 0, -1, -1, 0x1A2151D4A16, 0x1A2151D4A16, ()),
            "00000001 67 feb58184c82081d2ff480ea290909dd5 00000000",
            (
                "0000 00000000 00000003 00000000 ffffffffffffffff"
                "000001a2151d4a16 000001a2151d4a16 01 00"
            ),
        ),
        (
            ev.ShareStateUpdated(
                TOPIC,
                2,
                5,
                10,
                1,
                (StateBatch(10, 11, 0, 1), StateBatch(12, 12, 2, 1), StateBatch(13, 14, 0, 1)),
            ),
            "00010001 67 feb58184c82081d2ff480ea290909dd5 00000000",
            (
                "0000 00000002 00000005 000000000000000a 04"
                "000000000000000a 000000000000000b 00 0001 00"
                "000000000000000c 000000000000000c 02 0001 00"
                "000000000000000d 000000000000000e 00 0001 00"
                "01 00 04 00000001"
            ),
        ),
        (
            ev.ShareStateDeleted(TOPIC),
            "00000001 67 feb58184c82081d2ff480ea290909dd5 00000000",
            None,
        ),
    ],
    ids=["snapshot", "update", "tombstone"],
)
def test_records_are_kafkas(event: ev.Event, key: str, value: str | None) -> None:
    """SH-ST-8: as a consumer of a 4.4.0 broker's `__share_group_state` got them, but for the
    group's name."""
    made = record(KEY, event)
    assert made == (bytes.fromhex(key), None if value is None else bytes.fromhex(value))
