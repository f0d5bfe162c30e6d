"""Share partitions step by step: what is acquired, acknowledged and given back, as a Kafka 4.4.0
broker answered the same requests; and random lives beside a plain model."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions import acknowledge as acknowledging
from coordinator.core.share_partitions import release as releasing
from coordinator.core.share_partitions.acquire import Read, Wanted, acquire
from coordinator.core.share_partitions.evolve import evolve
from coordinator.core.share_partitions.model import SharePartition, SharePartitionKey
from coordinator.core.share_partitions.runs import Condition, Run
from coordinator.core.share_partitions.states import Deliveries, RecordState
from coordinator.events import share_partitions as ev
from coordinator.events.share_partitions import Span

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
LIMIT, LOCK_MS = 5, 30_000
DELIVERIES = Deliveries(LIMIT)
Given = list[tuple[int, int, int]]


class Life:
    """A share partition of a log whose batches are known."""

    def __init__(
        self, *batches: tuple[int, int], opened: ev.SharePartitionOpened | None = None
    ) -> None:
        self.log = [Span(*batch) for batch in batches]
        self.partition = SharePartition(SharePartitionKey("g", "t", 0), b"")
        self.now = 0
        self.fold(opened or ev.SharePartitionOpened(b"", 0, 0, 0, ()))

    def fold(self, *events: ev.Event) -> None:
        """Let events happen."""
        for event in events:
            evolve(self.partition, event)

    def fetch(
        self,
        member: str = "a",
        *,
        most: int = 500,
        exact: bool = False,
        batch_size: int = 500,
        most_in_flight: int = 2_000,
        limit: int = LIMIT,
        batches: int | None = None,
    ) -> Given:
        """What a member is given: first and last offset, and delivery count."""
        offset = self.partition.fetch_offset
        read = [of for of in self.log if of.last_offset >= offset][:batches]
        wanted = Wanted(most, batch_size, exact, most_in_flight, limit, self.now + LOCK_MS)
        events = acquire(self.partition, member, Read(offset, read), wanted)
        self.fold(*events)
        return [
            (of.first_offset, of.last_offset, of.delivery_count)
            for event in events
            if isinstance(event, ev.RecordsAcquired)
            for of in event.records
        ]

    def acknowledge(self, *ranges: tuple[int, ...], member: str = "a") -> ErrorCode:
        """Acknowledge (first, last, types ...)."""
        refused = self.refused(*ranges, member=member)
        return ErrorCode.NONE if refused is None else refused.error

    def refused(
        self, *ranges: tuple[int, ...], member: str = "a", renews: bool = True
    ) -> acknowledging.Refused | None:
        """Acknowledge; the refusal, or None. `renews`: the group renews locks."""
        rows = [acknowledging.Acknowledged(of[0], of[1], of[2:]) for of in ranges]
        event = acknowledging.acknowledge(
            self.partition,
            member,
            rows,
            deliveries=DELIVERIES,
            renewed_until_ms=self.now + LOCK_MS if renews else None,
        )
        if isinstance(event, acknowledging.Refused):
            return event
        if event is not None:
            self.fold(event)
        return None

    def says(self, *ranges: tuple[int, ...], member: str, renews: bool = True) -> str:
        """Acknowledge; in which words that is refused."""
        refused = self.refused(*ranges, member=member, renews=renews)
        return "" if refused is None else refused.message

    def log_starts_at(self, offset: int) -> None:
        """The log's start overtakes the start offset: what is available before it is archived."""
        gone = tuple(
            ev.RecordRange(of.first, of.last, "Archived", of.condition.delivery_count)
            for of in self.partition.runs.between(self.partition.start_offset, offset - 1)
            if of.condition.state is RecordState.AVAILABLE
        )
        self.fold(ev.RecordsArchived(ev.LOG_STARTS_BEHIND, gone, offset))

    def close_session(self, member: str = "a") -> None:
        """All that a member holds is given back."""
        event = releasing.release(self.partition, member, "closed", DELIVERIES)
        if event is not None:
            self.fold(event)

    def pass_time(self, ms: int) -> None:
        """Let locks end."""
        self.now += ms
        self.fold(*releasing.expire(self.partition, self.now, DELIVERIES))

    def states(self) -> list[tuple[int, int, str]]:
        """What is in flight."""
        return [(of.first, of.last, str(of.condition.state)) for of in self.partition.runs]


def test_parts_of_a_batch_are_told_together() -> None:
    """SH-ACK-1, SH-FT-8: what was released comes again, count by count; from half the limit on a
    batch comes in halves, and a record's last delivery is its own."""
    life = Life((0, 4), (5, 7))
    assert life.fetch() == [(0, 7, 1)]
    assert life.acknowledge((1, 2, RELEASE), (4, 6, RELEASE)) is ErrorCode.NONE
    assert life.fetch() == [(1, 2, 2), (4, 6, 2)]
    assert life.fetch() == []
    life.close_session()
    assert life.fetch() == [(0, 0, 2), (1, 2, 3), (3, 3, 2), (4, 6, 3), (7, 7, 2)]
    assert life.acknowledge((0, 7, RELEASE)) is ErrorCode.NONE
    assert life.fetch() == [(0, 0, 3), (1, 2, 4), (3, 3, 3)]
    assert life.acknowledge((0, 7, RELEASE)) is ErrorCode.INVALID_RECORD_STATE
    assert life.fetch() == [(4, 6, 4), (7, 7, 3)]
    life.pass_time(LOCK_MS)
    assert [life.fetch() for _ in range(3)] == [[(0, 0, 4)], [(1, 1, 5)], [(2, 2, 5)]]


def test_exactly_as_many_as_asked_for() -> None:
    """SH-FT-2: of a batch that holds more the rest stays available."""
    life = Life((0, 4), (5, 7), (8, 9))
    assert life.fetch(most=3, exact=True) == [(0, 2, 1)]
    assert life.fetch(most=3, exact=True) == [(3, 4, 1), (5, 5, 1)]
    assert life.fetch(most=3, exact=True) == [(6, 7, 1), (8, 8, 1)]
    assert life.fetch(most=3) == [(9, 9, 1)]


def test_whole_batches() -> None:
    """SH-FT-2: more than asked for, if the batch has more; told in pieces of batch_size."""
    life = Life((0, 4), (5, 7), (8, 9))
    assert life.fetch(most=3) == [(0, 4, 1)]
    assert life.fetch(batch_size=2) == [(5, 7, 1), (8, 9, 1)]


def test_no_more_than_may_be_in_flight() -> None:
    """SH-FT-6: a batch that goes over comes whole; then nothing new, but what is released."""
    life = Life((0, 4), (5, 7), (8, 9))
    assert life.fetch(most_in_flight=6, batches=1) == [(0, 4, 1)]
    assert life.fetch(most_in_flight=6) == [(5, 7, 1)]
    assert life.fetch(most_in_flight=6) == []
    life.acknowledge((6, 6, RELEASE))
    assert life.fetch(most_in_flight=6) == [(6, 6, 2)]


def test_a_batch_of_very_many() -> None:
    """A batch whose last offset delta is 2^31 - 1 is in flight whole, as ranges."""
    last = (1 << 31) - 1
    life = Life((0, last))
    assert life.fetch() == [(0, last, 1)]
    assert life.acknowledge((5, 5, ACCEPT), (7, last - 7, REJECT)) is ErrorCode.NONE
    assert len(life.states()) == 5
    life.pass_time(LOCK_MS)
    assert life.fetch() == [(0, 4, 2), (6, 6, 2), (last - 6, last, 2)]
    assert life.acknowledge((0, 4, ACCEPT), (6, 6, ACCEPT)) is ErrorCode.NONE
    assert life.partition.start_offset == last - 6


def test_the_start_moves_behind_what_is_done_with() -> None:
    """SH-SPSO-1: accepted, rejected and gaps alike, one after the other."""
    life = Life((0, 4), (5, 7))
    life.fetch()
    life.acknowledge((1, 2, ACCEPT))
    assert life.partition.start_offset == 0
    life.acknowledge((0, 0, REJECT))
    assert life.partition.start_offset == 3
    assert life.acknowledge((0, 3, 0)) is ErrorCode.NONE
    assert life.partition.start_offset == 4
    assert life.acknowledge((0, 2, ACCEPT)) is ErrorCode.NONE, "long done with: nothing happens"
    life.acknowledge((4, 7, ACCEPT))
    assert (life.partition.start_offset, life.partition.next_offset, life.states()) == (8, 8, [])


@pytest.mark.parametrize(
    ("ranges", "error"),
    [
        ([(0, 9, ACCEPT)], ErrorCode.INVALID_REQUEST),
        ([(8, 9, ACCEPT)], ErrorCode.INVALID_REQUEST),
        ([(1 << 62, (1 << 63) - 1, ACCEPT)], ErrorCode.INVALID_REQUEST),
        ([(0, 3, ACCEPT), (3, 5, ACCEPT)], ErrorCode.INVALID_RECORD_STATE),
        ([(0, 3, ACCEPT), (4, 9, ACCEPT)], ErrorCode.INVALID_REQUEST),
    ],
)
def test_taken_whole_or_not_at_all(ranges: list[tuple[int, ...]], error: ErrorCode) -> None:
    """SH-ACK-3: past what is in flight 42; a record twice in one request 121; nothing changes."""
    life = Life((0, 4), (5, 7))
    life.fetch()
    before = life.partition.snapshot()
    assert life.acknowledge(*ranges) is error
    assert life.partition.snapshot() == before


def test_another_members_records() -> None:
    """SH-ACK-3, SH-ACK-4: records that another member holds, or nobody, are not acknowledged."""
    life = Life((0, 4), (5, 7))
    life.fetch("a", most=1)
    assert life.fetch("b") == [(5, 7, 1)]
    assert life.acknowledge((0, 7, ACCEPT), member="b") is ErrorCode.INVALID_RECORD_STATE
    life.pass_time(LOCK_MS)
    assert life.acknowledge((5, 7, ACCEPT), member="b") is ErrorCode.INVALID_RECORD_STATE
    assert life.fetch("a") == [(0, 4, 2), (5, 7, 2)]
    assert life.acknowledge((5, 7, ACCEPT), member="b") is ErrorCode.INVALID_RECORD_STATE


def test_a_lock_begins_anew() -> None:
    """SH-ACK-2: a renewed lock lasts as long again, and the delivery count stays."""
    life = Life((0, 4))
    life.fetch()
    life.pass_time(LOCK_MS - 1)
    assert life.acknowledge((0, 1, RENEW)) is ErrorCode.NONE
    life.pass_time(1)
    assert life.states() == [(0, 1, "Acquired"), (2, 4, "Available")]
    life.pass_time(LOCK_MS - 1)
    assert life.states() == [(0, 4, "Available")]
    assert life.fetch() == [(0, 4, 2)]


def test_records_that_were_delivered_too_often() -> None:
    """SH-ACK-5: after the last delivery, a release or the end of the lock archives."""
    life = Life((0, 0), (1, 1))
    for _ in range(LIMIT - 1):
        life.fetch()
        life.fetch()
        life.close_session()
    assert life.fetch() == [(0, 0, LIMIT)]
    life.close_session()
    assert life.partition.start_offset == 1
    assert life.fetch() == [(1, 1, LIMIT)]
    life.pass_time(LOCK_MS)
    assert life.fetch() == []
    assert life.partition.start_offset == 2


def test_what_was_stored_is_gone_on_with() -> None:
    """SH-LD-1: records between those that are stored were in flight, and come as new ones."""
    records = (
        ev.RecordRange(2, 3, "Acknowledged", 1),
        ev.RecordRange(6, 6, "Available", 2),
    )
    life = Life((0, 4), (5, 7), (8, 9), opened=ev.SharePartitionOpened(b"", 0, 0, 0, records))
    assert life.fetch() == [(0, 1, 1), (4, 5, 1), (6, 6, 3), (7, 9, 1)]


def test_records_that_left_the_log() -> None:
    """SH-LOG-1: a batch that was compacted away is archived when a fetch passes over it."""
    life = Life((0, 4), (5, 7), (8, 9))
    life.fetch()
    life.acknowledge((0, 9, RELEASE))
    del life.log[0]
    assert life.fetch() == [(5, 9, 2)]
    assert life.states() == [(0, 4, "Archived"), (5, 9, "Acquired")]


def test_batches_that_are_followed_record_by_record() -> None:
    """SH-ACK-8: refusals are in other words once something was done to a part of a batch, though it
    was refused, and though all its records are in one state again."""
    life = Life((0, 2), (3, 5), (6, 7), (8, 9))
    life.fetch(batch_size=1)
    for batch in ((0, 2), (3, 5), (6, 7)):
        assert life.says((*batch, ACCEPT), member="b") == acknowledging.NOT_OWNER
    life.acknowledge((0, 0, RENEW))
    assert life.acknowledge((4, 4, ACCEPT), (11, 11, ACCEPT)) is ErrorCode.INVALID_REQUEST
    life.acknowledge((6, 7, RENEW, RENEW))
    for batch in ((0, 2), (3, 5), (6, 7)):
        assert life.says((*batch, ACCEPT), member="b") == acknowledging.NOT_OWNER_OF_OFFSET
    life.acknowledge((6, 7, ACCEPT))
    assert life.says((6, 7, ACCEPT), member="a") == acknowledging.NOT_ACQUIRED
    life.acknowledge((8, 9, ACCEPT))
    assert life.says((8, 9, ACCEPT), member="a") == acknowledging.BATCH_NOT_ACQUIRED


def test_the_batch_before_a_range_is_looked_at() -> None:
    """SH-ACK-8: a range that begins behind a batch concerns that batch, too."""
    life = Life((0, 2), (5, 7))
    life.fold(
        *(
            ev.RecordsAcquired(
                member, (ev.RecordRange(*of, "Acquired", 1),), (Span(*of),), LOCK_MS, 0
            )
            for member, of in (("b", (0, 2)), ("a", (5, 7)))
        )
    )
    assert life.says((4, 7, ACCEPT), member="a") == acknowledging.NOT_OWNER
    assert life.says((5, 7, ACCEPT), member="a") == ""


def test_renewing_is_refused_after_all_else() -> None:
    """SH-ACK-8: of a record that another holds it is said so, whether or not locks are renewed."""
    life = Life((0, 2), (3, 5))
    life.fetch(batch_size=1)
    assert life.says((0, 2, RENEW), member="b", renews=False) == acknowledging.NOT_OWNER
    assert life.says((0, 2, RENEW), member="a", renews=False) == acknowledging.NOT_RENEWED
    assert life.says((3, 4, ACCEPT, RENEW), member="a", renews=False) == acknowledging.NOT_RENEWED


def test_renewing_moves_nothing() -> None:
    """SH-SPSO-1: the start offset moves with what is stored alone."""
    life = Life((0, 2))
    life.fetch()
    life.fold(
        ev.RecordsArchived(
            "their transaction was aborted", (ev.RecordRange(0, 0, "Archived", 1),), 0
        )
    )
    assert life.acknowledge((1, 1, RENEW)) is ErrorCode.NONE
    assert life.partition.start_offset == 0
    assert life.acknowledge((1, 1, ACCEPT)) is ErrorCode.NONE
    assert life.partition.start_offset == 2


def test_a_range_around_the_start_where_nothing_is_in_flight() -> None:
    """SH-ACK-9: the request fails; what is long done with alone is taken in silence."""
    life = Life((0, 2), (3, 4))
    life.fetch(batches=1)
    life.acknowledge((0, 2, ACCEPT))
    assert life.refused((1, 4, ACCEPT)) is acknowledging.FAILED
    assert life.acknowledge((0, 2, ACCEPT)) is ErrorCode.NONE
    assert life.says((3, 4, ACCEPT), member="a") == acknowledging.NOT_FOUND
    life.fetch()
    assert life.acknowledge((1, 4, ACCEPT)) is ErrorCode.NONE


def test_what_is_held_when_the_log_starts_behind_it() -> None:
    """SH-SPSO-2: it stays acquired, and holds the start offset up until it is given back."""
    life = Life((0, 2), (3, 5), (6, 8))
    life.fetch(most=3)
    life.fetch("b", most=3)
    life.acknowledge((3, 3, RELEASE), member="b")
    life.log_starts_at(5)
    assert life.partition.start_offset == 5
    assert life.states() == [(0, 2, "Acquired"), (3, 3, "Archived"), (4, 5, "Acquired")]
    assert life.acknowledge((0, 2, ACCEPT)) is ErrorCode.NONE  # long done with
    assert life.acknowledge((3, 5, ACCEPT), member="b") is ErrorCode.NONE
    assert life.partition.start_offset == 5
    life.close_session("b")
    assert life.partition.start_offset == 5
    life.close_session()
    assert (life.partition.start_offset, life.states()) == (6, [])


@pytest.mark.parametrize("seed", range(150))
def test_random_lives(seed: int) -> None:
    """No record is held by two, none is delivered above the limit, none comes after it was accepted,
    nothing before the start offset; what is told is what a plain model says."""
    random = Random(seed)
    batches, at = [], 0
    for _ in range(12):
        last = at + random.randint(0, 4)
        batches.append((at, last))
        at = last + 1
    life = Life(*batches)
    holder: dict[int, str] = {}
    count: dict[int, int] = {}
    done: set[int] = set()
    for _ in range(60):
        member = random.choice("ab")
        match random.randint(0, 5):
            case 0 | 1 | 2:
                given = life.fetch(
                    member,
                    most=random.randint(1, 9),
                    exact=random.random() < 0.5,
                    batch_size=random.randint(1, 9),
                    most_in_flight=random.choice((4, 20)),
                )
                for first, last, deliveries in given:
                    for offset in range(first, last + 1):
                        assert offset not in holder
                        assert offset not in done
                        assert offset >= life.partition.start_offset
                        count[offset] = count.get(offset, 0) + 1
                        assert count[offset] == deliveries <= LIMIT
                        holder[offset] = member
            case 3 | 4:
                mine = sorted(offset for offset, of in holder.items() if of == member)
                chosen = [offset for offset in mine if random.random() < 0.6]
                kind = random.choice((ACCEPT, ACCEPT, RELEASE, REJECT))
                rows = [(offset, offset, kind) for offset in chosen]
                assert life.acknowledge(*rows, member=member) is ErrorCode.NONE
                give_back(chosen, holder, count, done, final=kind != RELEASE)
            case _ if random.random() < 0.5:
                life.close_session(member)
                give_back([o for o, of in holder.items() if of == member], holder, count, done)
            case _:
                life.pass_time(LOCK_MS)
                give_back(list(holder), holder, count, done)
        held = {
            offset: run.condition.member_id
            for run in life.partition.runs
            if run.condition.state is RecordState.ACQUIRED
            for offset in range(run.first, run.last + 1)
        }
        assert held == holder
        start = life.partition.start_offset
        assert done >= set(range(start)) and start not in done


def give_back(
    offsets: Sequence[int],
    holder: dict[int, str],
    count: dict[int, int],
    done: set[int],
    *,
    final: bool = False,
) -> None:
    """Nobody holds these any more; they are done with, or were delivered too often."""
    for offset in offsets:
        del holder[offset]
        if final or count[offset] >= LIMIT:
            done.add(offset)


def test_records_that_nobody_holds_share_their_conditions() -> None:
    """A million records, every second one accepted by itself, are a million runs of two values."""
    life = Life((0, 9))
    life.fetch()
    for offset in range(1, 10, 2):
        assert life.acknowledge((offset, offset, ACCEPT)) is ErrorCode.NONE
    conditions = [run.condition for run in life.partition.runs]
    assert len(conditions) == 10
    assert len(set(map(id, conditions))) == 2


@pytest.mark.parametrize("seed", range(30))
def test_what_is_being_stored_is_in_nobodys_hands(seed: int) -> None:
    """Runs are cut around it, wherever it begins and ends."""
    chance, partition = Random(seed), Life().partition
    records, offset = [], 0
    while offset < 60:
        first = offset + chance.randint(0, 5)
        offset = first + chance.randint(1, 5)
        records.append(Span(first, offset - 1))
    chance.shuffle(records)
    partition.stores(records)
    stored = {each for of in records for each in range(of.first_offset, of.last_offset + 1)}
    first = chance.randint(0, 60)
    last = first + chance.randint(0, 20)
    run = Run(first, last, Condition(RecordState.ACQUIRED, 1, "m", 5))
    held = [each for of in partition.held([run]) for each in range(of.first, of.last + 1)]
    assert held == [each for each in range(first, last + 1) if each not in stored]
    assert partition.is_stored(first, last) == (len(held) <= last - first)
    partition.settled(records)
    assert list(partition.held([run])) == [run]
