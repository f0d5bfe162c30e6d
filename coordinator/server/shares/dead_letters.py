"""Dead letter queues (KIP-1191): for records that a share group rejects or was given too often, the
partition's leader writes dead letters to a topic of the group's choice (SH-DLQ-1 to SH-DLQ-5).

Owns the letters in progress. Each `tick` writes one batch for each; a failed write is retried after
`RETRY_MS`, doubled each time, at most `MOST_ATTEMPTS` times; then the records are archived without
letters, as in Kafka. Does not know acknowledgements or locks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from coordinator.base.errors import ErrorCode
from coordinator.core.share_partitions.states import RecordState
from coordinator.events import share_partitions as ev

from .. import data_log
from ..log_configs import log_config
from ..storage.records import BatchRefused, parse_header
from .host import alone
from .letters import MOST_BYTES, Originals, batch_of_letters, originals

if TYPE_CHECKING:
    from coordinator.core.share_partitions.model import SharePartition

    from ..cluster import Partition, Topic
    from .host import ShareHost
    from .settings import SettingsOfGroups

RETRY_MS: Final = 1_000
MOST_ATTEMPTS: Final = 5
ENABLED: Final = "errors.deadletterqueue.group.enable"
_PREFIX: Final = "errors.deadletterqueue.topic.name.prefix"
_CREATES: Final = "errors.deadletterqueue.auto.create.topics.enable"
_CONFIGS: Final = {ENABLED: "true", "message.timestamp.type": "CreateTime"}
_CLIENT: Final = "share-group-dead-letters"


class Told(Protocol):
    """Interface of the owner of share partitions, which applies the outcome."""

    def told(self, partition: SharePartition, event: ev.Event, now: int, cause: int | None) -> None:
        """Apply the event that letters were written."""

    def archive(
        self,
        partition: SharePartition,
        records: ev.RecordRange,
        reason: str,
        now: int,
        cause: int | None,
    ) -> None:
        """Archive records whose letters are written, or will not be."""


@dataclass(slots=True, eq=False)
class _Letters:
    """Dead letters of a range of records, in progress; the next is about `next_offset`."""

    partition: SharePartition
    records: ev.RecordRange
    message: str
    next_offset: int
    due_ms: int
    cause: int | None
    attempts: int = 0


class _Place(NamedTuple):
    """Destination of letters: a partition, at the broker that leads it."""

    leader: ShareHost
    topic: Topic
    partition: Partition


class _NotNowError(Exception):
    """Error for letters that cannot be written now, but perhaps later."""


class _NeverError(Exception):
    """Error for letters that cannot be written at all."""


class DeadLetters:
    """Dead letters that one broker writes."""

    def __init__(self, broker: ShareHost, settings: SettingsOfGroups, to: Told) -> None:
        self._broker = broker
        self._peers = broker.share_peers or alone(broker)
        self._settings = settings
        self._to = to
        self._under_way: list[_Letters] = []

    def send(
        self,
        partition: SharePartition,
        records: Iterable[ev.RecordRange | ev.AcknowledgedRange],
        message: str,
        now: int,
        cause: int | None,
    ) -> None:
        """Start letters about the records that are in the state Archiving; they are written from
        the next `tick` on.
        """
        for of in records:
            if of.state == str(RecordState.ARCHIVING):
                archived = ev.RecordRange(
                    of.first_offset,
                    of.last_offset,
                    str(RecordState.ARCHIVED),
                    of.delivery_count,
                )
                self._under_way.append(
                    _Letters(partition, archived, message, of.first_offset, now, cause)
                )

    def forget(self, partition: SharePartition) -> None:
        """Drop the letters of a share partition that is closed: its next leader writes them."""
        self._under_way = [one for one in self._under_way if one.partition is not partition]

    def under_way(self) -> Iterator[SharePartition]:
        """Yield the share partitions with letters in progress."""
        return (one.partition for one in self._under_way)

    def next_deadline(self) -> int | None:
        """Return the instant at which `tick` is due, or None."""
        return min((one.due_ms for one in self._under_way), default=None)

    def tick(self, now: int) -> None:
        """Write one batch for each range of records that is due."""
        for letters in [one for one in self._under_way if one.due_ms <= now]:
            if letters not in self._under_way:
                continue  # what came of the ones before it closed its share partition
            try:
                reason = f"their dead letters are in {self._write(letters, now)}"
            except _NotNowError as why:
                letters.attempts += 1
                if letters.attempts < MOST_ATTEMPTS:
                    letters.due_ms = now + (RETRY_MS << (letters.attempts - 1))
                    continue
                reason = _given_up(letters, why)
            except _NeverError as why:
                reason = _given_up(letters, why)
            else:
                letters.attempts = 0
                if letters.next_offset <= letters.records.last_offset:
                    continue
            self._under_way.remove(letters)
            self._to.archive(letters.partition, letters.records, reason, now, letters.cause)

    def _name(self, letters: _Letters) -> str:
        return self._settings(letters.partition.key.group_id).dead_letter_topic

    # -- writing

    def _write(self, letters: _Letters, now: int) -> str:
        """Write a batch; return its topic's name. Raises _NotNowError, _NeverError."""
        leader, topic, target = self._place(letters, now)
        wall_ms = self._broker.epoch_ms + now
        first, last = letters.next_offset, letters.records.last_offset
        config = log_config(topic)
        copied = self._originals(letters, first, last)
        batch, count = batch_of_letters(
            letters.partition.key,
            range(first, copied.last + 1),
            letters.records.delivery_count,
            letters.message,
            copied.found,
            wall_ms=wall_ms,
            max_bytes=min(config.max_message_bytes, MOST_BYTES),
        )
        header = parse_header(batch)
        try:
            placed = target.log.append(
                batch,
                header,
                config,
                leader_epoch=target.leader_epoch,
                now_ms=wall_ms,
                where=f"{topic.name}-{target.index}",
                elapsed_ms=now,
            )
        except BatchRefused as refusal:
            raise _NeverError(refusal.error.message) from None
        if target.log.calls_cleaner:
            leader.services.cleaning.appended(target, now)
        writer = data_log.Writer(now, _CLIENT)
        data_log.appended(
            leader.log,
            leader.node_id,
            writer,
            -1,
            topic.name,
            target.index,
            header,
            placed.base_offset,
        )
        if leader.replication is not None:
            leader.replication.mark(topic.name, target.index)
            leader.replication.run(now)
        leader.parked_fetches.wake(topic.name, target.index, now)
        letters.next_offset = first + count
        written = ev.DeadLettersWritten(
            first, letters.next_offset - 1, topic.name, target.index, placed.base_offset
        )
        self._to.told(letters.partition, written, now, letters.cause)
        return topic.name

    def _originals(self, letters: _Letters, first: int, last: int) -> Originals:
        """Return the records themselves, if the group wants them copied into the letters."""
        key = letters.partition.key
        found = self._broker.cluster.partition(key.topic, key.partition)
        if found is None or not self._settings(key.group_id).copies_records:
            return Originals({}, last)
        return originals(found.log, first, last)

    # -- where to

    def _place(self, letters: _Letters, now: int) -> _Place:
        """Return the destination, with Kafka's checks in Kafka's order; create the topic if that is
        allowed.
        """
        broker, key = self._broker, letters.partition.key
        name = self._name(letters)
        if not name:
            raise _NeverError("the group has no topic for them any more")
        topic = broker.cluster.topics.get(name)
        if topic is not None and topic.effective(ENABLED) is not True:
            raise _NeverError(f"{name} does not take them ({ENABLED})")
        prefix = str(broker.configs.get(_PREFIX) or "")
        if topic is None and not broker.configs.get_bool(_CREATES):
            raise _NeverError(f"there is no topic {name}")
        if not name.startswith(prefix):
            raise _NeverError(f"{name} does not begin with {prefix!r} ({_PREFIX})")
        if topic is None:
            make = broker.topic_maker
            why = None if make is None else make(name, _CONFIGS, now, letters.cause)
            topic = broker.cluster.topics.get(name)
            if topic is None:
                raise _NotNowError(why or f"{name} is being made")
        index = key.partition % len(topic.partitions)
        return self._led(topic.name, index)

    def _led(self, name: str, index: int) -> _Place:
        """Return the partition at its leader. Raises _NotNowError."""
        broker = self._broker
        known = broker.cluster.partition(name, index)
        leader = None if known is None else self._peers.reached(broker.node_id, known.leader)
        own = None if leader is None else leader.cluster.partition(name, index)
        if leader is None or own is None or own.leader != leader.node_id:
            raise _NotNowError(f"{name}-{index} has no leader that can be asked")
        topic = leader.cluster.topics[name]
        least = min(topic.effective_int("min.insync.replicas"), len(own.replicas))
        if len(own.isr) < least:
            raise _NotNowError(ErrorCode.NOT_ENOUGH_REPLICAS.message)
        return _Place(leader, topic, own)


def _given_up(letters: _Letters, why: Exception) -> str:
    """Return the reason why records are archived without all their dead letters."""
    some = letters.next_offset > letters.records.first_offset
    return f"{'not all' if some else 'no'} dead letters were written: {why}"
