"""A consumer application in the hands of a test: started, disturbed, and judged by what it
processed and committed.

    application = ApplicationUnderTest(kafka, my_application)
    application.start()
    application.produce(100)
    with application.peer():
        application.wait_shared()
    application.wait_done()
    application.verify()

`my_application` has `start(bootstrap_servers)`, `stop()`, `kill()`, and tells what it processed: by
a method `processed()` that gives (topic, partition, offset) of each record in order, by an
attribute `output_topic` whose records carry the headers `topic`, `partition` and `offset` (or those
that an attribute `output_headers` names, in this order), or by calls of `kafka.processed(...)`.
Without any of them what only they can tell is "not judged". Its attributes `topic` and `group` say
what it reads, and as whom.

Owns the disturbances; judging is `findings`, its commits are watched by `commit_watch`. It needs no
pytest.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Any

from coordinator.events.line import Line, lines_of
from coordinator.history.world.accepted_lines import accepted
from coordinator.members.effects import Position

from ..in_process_requests import ControlError
from ..waiting import WaitTimeoutError
from . import findings, identities
from .commit_watch import CommitWatch
from .findings import ApplicationError as ApplicationError
from .findings import Finding, Processed, TopicPartition
from .held_rebalances import Hold, longest_hold
from .holders import Written
from .keys import round_the_partitions
from .late_joins import left_too_late
from .losses import Handover, OthersCommit
from .refused_heartbeats import connections, could_not_leave
from .verdict import Evidence, Repeats, Told, all_findings, reservations, why_not

if TYPE_CHECKING:
    from coordinator.members.live import PeerHandle

    from ..emulator.embedded import Emulator
    from ..group.handle import GroupHandle
    from ..injection.fault_board import FaultHandle
    from ..views.group_snapshots import GroupSnapshot, MemberSnapshot

PARTITIONS = 6
PATIENCE_S = 30.0
"""Seconds that the application may take for anything that a test waits for."""
_KEYS = 7
_DIED = "its process died"
A_MOMENT_S = 1.0
"""Seconds within which an application's immediate actions are done on a machine that is not
busy; no verdict depends on it."""


class ApplicationUnderTest:
    """One application and the emulator that it works with. Raises TypeError for an object that is
    no application; the error says what is missing.

    `patience_s`: seconds that the application may take for anything that a test waits for.
    `duplicates_clean`: number of records that may be processed again for each disturbance that
    leaves the application time to commit. `duplicates_death`: the same for each death; by
    default the records that it had fetched and not committed. `duplicates` (deprecated): the
    same for any disturbance.
    """

    def __init__(
        self,
        kafka: Emulator,
        application: Any,
        *,
        partitions: int = PARTITIONS,
        patience_s: float = PATIENCE_S,
        duplicates: int | None = None,
        duplicates_clean: int = 0,
        duplicates_death: int | None = None,
    ) -> None:
        check(application, "application")
        self._output_headers = _output_headers(application)
        self.kafka = kafka
        self.application = application
        self.patience_s = patience_s
        self.running = False
        if duplicates is not None:
            warnings.warn(
                "duplicates is one number for all disturbances: give duplicates_clean and duplicates_death, or neither",
                DeprecationWarning,
                stacklevel=2,
            )
        self._repeats = Repeats(clean=duplicates_clean, death=duplicates_death, any=duplicates)
        self._excused: object = None
        self._done_at_stop = 0
        self.unknown: list[str] = []
        """Facts about the application that a case could not find out, and why."""
        self.told = Told()
        self.topics = [application.topic]
        self.peer_clients = set[str]()
        """Client ids of the test's own members."""
        if application.topic not in self._topics():
            kafka.create_topic(application.topic, partitions)
        self._watch = CommitWatch(kafka, application.group, self._count)

    @property
    def disturbances(self) -> int:
        """Number of disturbances so far."""
        return self.told.disturbances

    @disturbances.setter
    def disturbances(self, number: int) -> None:
        self.told.disturbances = number

    @property
    def group(self) -> GroupHandle:
        """The application's group."""
        return self.kafka.group(self.application.group)

    # -- what it did
    # -----------------------------------------------------------------------------------------------------

    def processed(self) -> list[Processed] | None:
        """Return the records that the application processed, in order; None if it does not
        report them."""
        if callable(getattr(self.application, "processed", None)):
            return [
                (topic, partition, offset)
                for topic, partition, offset in self.application.processed()
            ]
        output = getattr(self.application, "output_topic", None)
        if output is not None:
            if output not in self._topics():
                return []
            return [
                findings.of_output(row.headers, output, self._output_headers)
                for row in self.kafka.records(output, committed=self.transactional)
            ]
        return self.kafka.processed_records or None

    def _records(self) -> dict[TopicPartition, list[int]]:
        """Return the offsets of the records that were written to the application's topics, by
        partition."""
        records: dict[TopicPartition, list[int]] = {place: [] for place in self.ends()}
        for topic in self.topics:
            for record in self.kafka.records(topic, committed=self.transactional):
                records[topic, record.partition].append(record.offset)
        return records

    def _keys(self) -> dict[Processed, bytes]:
        """Return the keys of the records in the application's topics; nothing if the application
        does not promise their order, or if the order in which it processed is not known."""
        if not self.keeps_key_order or self.order_not_judged:
            return {}
        return {
            (topic, record.partition, record.offset): record.key
            for topic in self.topics
            for record in self.kafka.records(topic)
            if record.key is not None
        }

    @property
    def keeps_key_order(self) -> bool:
        """Return True if the application says, by its attribute `keeps_key_order`, that it processes
        the records of a key in their order."""
        return bool(getattr(self.application, "keeps_key_order", False))

    @property
    def order_not_judged(self) -> str:
        """The reason why the order of keys is not judged although the application promises it;
        "" if it is judged."""
        output = getattr(self.application, "output_topic", None)
        if not self.keeps_key_order or callable(getattr(self.application, "processed", None)):
            return ""
        if (
            output is None
            or output not in self._topics()
            or len(self.kafka.end_offsets(output)) < 2
        ):
            return ""
        return f"the order of keys is not judged: {output} has several partitions, between which there is no order"

    def effects(self) -> list[Hashable]:
        """Return the application's effects for records, in order, from its method `effects()`;
        empty without such a method."""
        told = getattr(self.application, "effects", None)
        if not callable(told):
            return []
        return [tuple(each) if isinstance(each, list) else each for each in told()]

    def ends(self) -> dict[TopicPartition, int]:
        """Return the end offsets of the application's partitions now."""
        return {
            (topic, index): end
            for topic in self.topics
            for index, end in self.kafka.end_offsets(topic).items()
        }

    def _committed(self) -> dict[TopicPartition, int]:
        return {
            place: found.offset
            for place, found in self.group.committed.items()
            if place[0] in self.topics
        }

    def _processed_below(self, ends: Mapping[TopicPartition, int]) -> bool:
        done = {*(self.processed() or ()), *self.told.others_processed}
        return all(
            (*place, at) in done
            for place, offsets in self._records().items()
            for at in offsets
            if at < ends.get(place, 0)
        )

    @property
    def keeps_offsets(self) -> bool:
        """Return True if the application says, by its attribute `keeps_offsets`, that it keeps its
        offsets itself and may commit none."""
        return bool(getattr(self.application, "keeps_offsets", False))

    @property
    def sees_commit_errors(self) -> bool:
        """Return True if the application says, by its attribute `sees_commit_errors`, that it gets
        errors of commits and acts on them although it does not wait for the responses."""
        return bool(getattr(self.application, "sees_commit_errors", False))

    @property
    def transactional(self) -> bool:
        """Return True if the application has the attribute `transactional_id`: it works in
        transactions, and is judged by what they commit."""
        return bool(getattr(self.application, "transactional_id", None))

    @property
    def speaks_consumer(self) -> bool:
        """Return True if the application's group uses the consumer protocol (KIP-848) now."""
        return self.group.snapshot().type == "consumer"

    @property
    def heartbeat_interval_s(self) -> float:
        """Heartbeat interval of consumer groups (KIP-848) in seconds, as the broker sets it."""
        name = "group.consumer.heartbeat.interval.ms"
        return self.kafka.run(lambda: self.kafka.server.broker.configs.get_int(name)) / 1000

    def _topics(self) -> set[str]:
        return self.kafka.run(lambda: set(self.kafka.server.broker.cluster.topics))

    def _count(self) -> int:
        return len(self.processed() or ())

    def members(self) -> list[MemberSnapshot]:
        """Return the application's own members: all but the peers of this test."""
        return [
            member for member in self.group.members if member.client_id not in self.peer_clients
        ]

    def member(self) -> MemberSnapshot:
        """Return the first of the application's members. Raises ApplicationError if it has none."""
        if not (members := self.members()):
            finding = Finding(findings.NO_RECOVERY, "the application has no member in its group")
            raise ApplicationError([finding], str(self.group.snapshot()))
        return members[0]

    # -- what is done to it
    # ----------------------------------------------------------------------------------------------

    def start(self, assigned: str | None = "all") -> None:
        """Start the application and wait until it has joined, has all partitions and has acted
        on them. Static members of a former start may exist. `assigned` None: not all of its
        topics exist yet."""
        self.told.starts.append(mark := self.kafka.mark())
        self.application.start(self.kafka.bootstrap_servers)
        self.running = True
        self.wait_until(
            lambda: self._joined(mark), "the application did not join its group", mark=mark
        )
        self.wait(
            findings.NO_RECOVERY,
            "it processed nothing",
            state="Stable",
            assigned=assigned,
            acted=True,
        )

    def _joined(self, mark: int) -> bool:
        clients = identities.clients_that_joined(
            lines_of(self.kafka.events(group=self.application.group, since=mark))
        )
        return not clients <= self.peer_clients

    def stop(self) -> None:
        """Stop it in good order."""
        self.running = False
        self.told.stops.append(self.kafka.mark())
        self.application.stop()
        self._done_at_stop = self._count()

    def start_again(self) -> None:
        """Start the application again after it ended with an error of its own; that error is no
        finding."""
        self.stop()
        self._excused = getattr(self.application, "error", None)
        # its connections are closed, which its broker may see a little later
        self.wait_a_moment(lambda: not any(member.connected for member in self.members()))
        self.expire_members(
            member.member_id
            for member in self.members()
            if member.instance_id is None and not member.connected
        )
        self.start()

    def expire_members_that_could_not_leave(self) -> None:
        """End the sessions of members whose consumer was closed and whose LeaveGroup was
        refused."""
        own = {member.member_id for member in self.members() if member.instance_id is None}
        lines = lines_of(self.kafka.events(group=self.application.group))
        group = self.application.group
        self.expire_members(could_not_leave(lines, group, own, connections(self.kafka)))

    def expire_members(self, names: Iterable[str]) -> None:
        """End the sessions of these members, as if they had expired, without moving the clock."""
        for name in names:
            with suppress(LookupError):  # it went by itself
                self.group.expire(name)
                self.told.removed.add(name)

    def stop_and_leave(self) -> None:
        """Stop the application in good order and wait until its members have left, except static
        ones. Raises ApplicationError if they do not."""
        static = any(member.instance_id is not None for member in self.members())
        self.stop()
        if static:
            return
        try:
            self.group.wait(state="Empty", timeout=self.patience_s)
            self.group.verify().left_cleanly()
        except AssertionError as error:  # a time-out is one
            text = f"it was stopped, and did not close its consumer: {error}"
            late = left_too_late(
                self._lines_that_count(), self.application.group, self.told.stops[-1]
            )
            found = late or [Finding(findings.DOES_NOT_LEAVE, text)]
            raise ApplicationError([*self.findings(), *found]) from None

    def verify_committed(self, name: str = findings.NOT_COMMITTED) -> None:
        """Verify an application that was stopped in good order: what it processed is committed
        (else a finding with this name), and it has processed nothing since. Raises
        ApplicationError."""
        if not self.keeps_offsets and (processed := self.processed()) is not None:
            starts = dict.fromkeys(self._records(), 0)
            lost = findings.not_committed(processed, self._committed(), starts)
            if lost and len(processed) > self._done_at_stop:
                topic, index, offset = processed[self._done_at_stop]
                more = len(processed) - self._done_at_stop
                where = f"from {topic}-{index} offset {offset} on"
                text = f"it was stopped, and has processed {more} more records since, {where}: one of its workers still runs"
                self.told.noted.append(Finding(findings.WORKS_ON, text))
            self.told.noted += [finding._replace(name=name) for finding in lost]
        self.verify()

    def kill(self) -> None:
        """End the application as a process dies: its later commits, LeaveGroup and JoinGroup are
        refused without effect, and its session is ended."""
        self.disturbances += 1
        self.running = False
        self.told.stops.append(self.kafka.mark())
        self.told.killed.append(self.kafka.mark())
        clients = {member.client_id for member in self.members()}
        refused = dict.fromkeys(
            ("OffsetCommit", "TxnOffsetCommit", "LeaveGroup"), "UNKNOWN_MEMBER_ID"
        )
        # a library that joins anew for that would wait for its own former member's session to end
        joins = [
            self._refuse("JoinGroup", "COORDINATOR_LOAD_IN_PROGRESS", each) for each in clients
        ]
        others = [self._refuse(*row, each) for row in refused.items() for each in clients]
        self._watch.dying |= clients
        self.told.dead |= {member.member_id for member in self.members()}
        let_in = Timer(A_MOMENT_S, self._let_in, [joins])
        let_in.daemon = True
        let_in.start()
        try:
            try:
                self.application.kill()
            finally:
                let_in.cancel()
                let_in.join()
            self.told.dead |= {member.member_id for member in self.members()}
            self.remove_members(_DIED)
        finally:
            for cut in (*joins, *others):
                cut.remove()
            self._watch.dying -= clients

    def _refuse(self, api: str, error: str, client_id: str) -> FaultHandle:
        return self.kafka.fail(api, error, client_id=client_id, may_miss=True)

    def _let_in(self, refused: Sequence[FaultHandle]) -> None:
        """Let an application end that must join before it can end: aiokafka's `getmany()` waits
        for an assignment without a time limit."""
        for cut in refused:
            cut.remove()
        with suppress(LookupError):  # one that has left meanwhile
            self.remove_members(_DIED)

    @contextmanager
    def fails_by_itself(self) -> Iterator[None]:
        """Expect, in the block, that the application fails by itself, as the case makes it do.
        Records that it has not committed may come again."""
        began = self.kafka.mark()
        self.told.by_itself.append((began, sys.maxsize))
        yield
        self.told.by_itself[-1] = (began, self.kafka.mark())

    def remove_members(self, reason: str) -> None:
        """Remove all members of the application from the group, as a coordinator does when a
        timeout is over."""
        for member in self.members():
            self.told.removed.add(member.member_id)
            self.group.remove(member.member_id, reason)

    def produce(self, count: int, value: bytes = b"record") -> None:
        """Write records with keys, to the partitions of its latest topic in turn."""
        self.told.written.append(Written(self.kafka.mark(), ends := self.ends()))
        partitions = sum(topic == self.topics[-1] for topic, _ in ends)
        keys = round_the_partitions(count, partitions)
        self.kafka.produce(self.topics[-1], [value] * count, keys=keys)

    def delete_old_records(self) -> None:
        """Let retention delete all records of its topic, as if they were old."""
        name, kafka = self.application.topic, self.kafka
        kept = kafka.configure_topic(name, {"retention.ms": "1"})
        try:
            kafka.advance(seconds=1)  # the records are older than retention.ms then
            kafka.clean(name)
        finally:
            kafka.configure_topic(name, kept)

    def compact_keys(self, count: int) -> None:
        """Write records with few keys, each key several times, and have them compacted; then
        restore the topic's settings."""
        name, kafka = self.application.topic, self.kafka
        compacts = {
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0",
            "segment.ms": "1",
        }
        kept = kafka.configure_topic(name, compacts)
        try:
            for index in range(len(kafka.end_offsets(name))):
                keys = [str(number % _KEYS) for number in range(count)]
                self.told.written.append(Written(kafka.mark(), self.ends()))
                kafka.produce(name, [b"record"] * count, keys=keys, partition=index)
                kafka.advance(seconds=1)  # what comes next begins a segment
                kafka.produce(name, [b"record"], keys=["last"], partition=index)
            kafka.clean(name)
        finally:
            kafka.configure_topic(name, kept)

    def make_topic(self, name: str) -> None:
        """Create another topic that the application reads."""
        self.kafka.create_topic(name, len(self.ends()))
        self.topics.append(name)

    @contextmanager
    def peer(self, **options: Any) -> Iterator[PeerHandle]:
        """Add, for the block, another member to the group, which neither processes nor commits
        anything."""
        self.disturbances += 2
        config = {"enable.auto.commit": "false", **options.pop("config", {})}
        with self.group.peer([self.application.topic], config=config, **options) as peer:
            self.peer_clients.add(peer.client_id)
            try:
                yield peer
            except BaseException:
                peer.crash()  # it may be waiting for the application in its JoinGroup
                raise
            finally:
                self.told.peers.add(peer.member_id)
        for member in self.group.members:
            if member.client_id == peer.client_id:  # it could not leave: its join is not answered
                with suppress(LookupError, ControlError):
                    self.group.remove(member.member_id, "it was stopped")

    @contextmanager
    def others_own(self, peer: PeerHandle) -> Iterator[None]:
        """Let the peer own its partitions alone in the block: the application must not process
        records of them."""
        self.told.peers.add(peer.member_id)
        # by the coordinator's word: the peer may not have heard of it yet
        given = self.group.snapshot()
        owned = frozenset(
            place
            for member in given.members
            if member.client_id == peer.client_id
            for place in member.assignment or ()
        )
        first, at = self._count(), given.generation
        # another consumer of the application may come meanwhile, and the partitions be given anew
        yield
        done = Handover(owned, first, self._count())
        self.told.handovers += [done] if self.group.snapshot().generation == at else []

    def peer_commits(self, peer: PeerHandle) -> None:
        """Let the peer commit everything in its partitions, as if it had processed it. Raises
        the error of a refused commit."""
        ends = self.kafka.end_offsets(self.application.topic)
        owned = [tp for tp in peer.owned if tp.topic == self.application.topic]
        peer.wait_commit({tp: Position(ends[tp.partition]) for tp in owned})
        for tp in owned:
            place, end = (tp.topic, tp.partition), ends[tp.partition]
            self.told.others.append(OthersCommit(place, end, self._count()))
            self.told.others_processed += [
                (*place, at) for at in self._records()[place] if at < end
            ]

    # -- waiting
    # ---------------------------------------------------------------------------------------------------------

    def wait(
        self,
        name: str,
        what: str,
        *,
        peers: int | None = None,
        share: Mapping[TopicPartition, int] | None = None,
        **expected: Any,
    ) -> GroupSnapshot:
        """Wait for the group as `GroupHandle.wait` does; if the time is over, raise
        ApplicationError with a finding of this name.

        `peers`: the number of the test's own members in the group; the application must have at
        least one more, and may have several that join one after another. `share`: offsets that
        must be committed in the partitions that the application then has. If the application
        says that it ended by an error, the wait is short.
        """
        mark, until = self.kafka.mark(), time.monotonic() + self.patience_s
        while True:
            ended = self._error is not None
            left = min(max(until - time.monotonic(), 0.0), A_MOMENT_S)
            if peers is not None:
                expected["members"] = max(len(self.members()), 1) + peers
            if share is not None:
                expected["committed"] = self._own(share) or (None if self.members() else share)
            try:
                return self.group.wait(timeout=left, **expected)
            except WaitTimeoutError as error:
                if ended or time.monotonic() >= until:
                    awaited_s = left if ended else self.patience_s
                    told = str(error).replace(f"within {left:g} s", f"within {awaited_s:g} s", 1)
                    finding = Finding(name, f"{what}: {told}")
                    offsets, acted = (
                        "lag" in expected or "committed" in expected,
                        bool(expected.get("acted")),
                    )
                    found = [
                        *self.findings(),
                        *self.why_not(mark, offsets=offsets, acted=acted),
                        finding,
                    ]
                    raise ApplicationError([*dict.fromkeys(found)]) from None

    def why_not(self, mark: int, *, offsets: bool, acted: bool = False) -> list[Finding]:
        """Return findings that explain why something since `mark` did not come. `offsets`: it
        was a commit; `acted`: it was that the application reads."""
        before = self._count()
        time.sleep(
            A_MOMENT_S if offsets and before else 0.0
        )  # whether it goes on is seen by nothing else
        still = self._count() == before
        evidence, connected = self.evidence(), connections(self.kafka)
        return why_not(
            evidence,
            self.group.snapshot(),
            self.members(),
            mark,
            connected,
            offsets=offsets,
            acted=acted,
            still=still,
        )

    def wait_until(
        self,
        condition: Callable[[], bool],
        what: str,
        name: str = findings.NO_RECOVERY,
        *,
        mark: int | None = None,
    ) -> None:
        """Wait for something that only the application knows. Raises ApplicationError. `mark`:
        since when it should join its group; if it says that it ended, the wait is short."""
        until = time.monotonic() + self.patience_s
        while not condition():
            ended = mark is not None and self._error is not None
            if ended or time.monotonic() > until:
                known = [] if mark is None else self.why_not(mark, offsets=False)
                raise ApplicationError(
                    [
                        *self.findings(),
                        *known,
                        Finding(name, what if ended else f"{what} within {self.patience_s:g} s"),
                    ]
                )
            time.sleep(0.005)

    def wait_a_moment(self, condition: Callable[[], bool]) -> None:
        """Wait a moment for something that comes at once or never; no verdict depends on it."""
        until = time.monotonic() + A_MOMENT_S
        while not condition() and time.monotonic() < until:
            time.sleep(0.005)

    def has_fetched(self) -> bool:
        """Return True if the application has fetched everything that was written to its
        partitions. False while its process is paused."""
        ends = self.ends()
        fetched = self._watch.fetched
        return all(fetched.get(place, 0) >= end for place, end in self._own(ends).items())

    def wait_reads_on(self) -> None:
        """Wait until the application has fetched from the oldest record of each partition, or
        behind it, or has ended."""
        first = {place: offsets[0] for place, offsets in self._records().items() if offsets}
        self.wait_until(
            lambda: (
                self._error is not None
                or not self.members()
                or all(self._watch.fetched.get(place, 0) >= at for place, at in first.items())
            ),
            "the application did not process the remaining records",
        )

    def wait_shared(self, peers: int = 1) -> GroupSnapshot:
        """Wait until the application and `peers` other members share the partitions, and every member
        has acted on its own."""
        return self.wait(
            findings.BLOCKS,
            "the application did not rejoin when another member came",
            state="Stable",
            peers=peers,
            assigned="all",
            acted=True,
        )

    def wait_alone(self) -> GroupSnapshot:
        """Wait until the application's members are alone in the group and have all partitions."""
        return self.wait(
            findings.BLOCKS,
            "the application did not take over the partitions of a member that left",
            state="Stable",
            peers=0,
            assigned="all",
            acted=True,
        )

    def wait_done(self) -> None:
        """Wait until `is_done` returns True."""
        if self.keeps_offsets:
            self.wait_reached(self.ends(), "everything that was written")
            return
        self.wait(
            findings.NO_RECOVERY,
            "the application did not commit everything that was written",
            state="Stable",
            assigned="all",
            lag=0,
        )

    def produce_to_its_share(self, count: int) -> None:
        """Write records to all partitions in turn, and wait until those in the application's own
        partitions are committed."""
        self.produce(count)
        self.wait_reached(self.ends(), "what was written to its share", own=True)

    def _own(self, ends: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Return those of the partitions that the application's members own now. When one of its
        consumers comes later, a peer may get partitions."""
        given = {place for member in self.members() for place in member.assignment or ()}
        return {place: end for place, end in ends.items() if place in given}

    def wait_reached(
        self, ends: Mapping[TopicPartition, int], what: str, *, own: bool = False
    ) -> None:
        """Wait until the application has committed these offsets or, if it keeps its offsets
        itself, has processed everything below them. `own`: only in the partitions that it then
        has."""
        if self.keeps_offsets:
            self.wait_until(
                lambda: self._processed_below(self._own(ends) if own else ends),
                f"the application did not process {what}",
            )
        else:
            expected: dict[str, Any] = {"state": "Stable", "share": ends}
            self.wait(
                findings.NO_RECOVERY,
                f"the application did not commit {what}",
                **(expected if own else {"committed": ends}),
            )

    def is_done(self) -> bool:
        """Return True if everything that was written is committed or, if the application keeps
        its offsets itself, processed."""
        if self.keeps_offsets:
            return self._processed_below(self.ends())
        group = self.group.snapshot()
        return group.state == "Stable" and bool(group.lag) and not any(group.lag.values())

    # -- the verdict
    # -----------------------------------------------------------------------------------------------------

    def findings(self) -> list[Finding]:
        """Return all findings so far."""
        found = all_findings(self.evidence())
        if (error := self._error) is not None:
            found.append(Finding(findings.ENDED, f"{type(error).__name__}: {error}"))
        return [*dict.fromkeys(found)]

    @property
    def _error(self) -> BaseException | None:
        """The error with which the application ended although it should have gone on, or None."""
        error = getattr(self.application, "error", None)
        excused = self._excused is ... or error is self._excused
        return error if isinstance(error, BaseException) and not excused else None

    def evidence(self) -> Evidence:
        """Return everything that is known of the application now."""
        commits = [commit for commit in self._watch.seen() if commit.member not in self.told.peers]
        committed = self._committed()  # before it is asked what it has processed: it may be at work
        processed, lines = self.processed(), self._lines_that_count()
        return Evidence(
            group=self.application.group,
            lines=lines,
            commits=commits,
            committed=committed,
            processed=processed,
            records=self._records(),
            ends=self.ends(),
            keeps_offsets=self.keeps_offsets,
            repeats=self._repeats,
            commits_late=bool(getattr(self.application, "commits_late", False)),
            told=self.told,
            transactional_id=getattr(self.application, "transactional_id", None) or None,
            asked_first=dict(self._watch.asked_first),
            keys=self._keys(),
            effects=self.effects(),
        )

    def _lines_that_count(self) -> list[Line]:
        """Return the whole log without what a former coordinator did in vain."""
        return list(accepted(lines_of(self.kafka.events())))

    def excuse(self) -> None:
        """Allow the application to end with an error of its own from now on, because it is
        refused for good."""
        self._excused = ...

    def verify(self) -> None:
        """Raise ApplicationError with all findings, if there are any."""
        found = self.findings()
        if found:
            raise ApplicationError(found)

    @property
    def not_judged(self) -> str:
        """The points that cannot be judged, and why; "" if there are none."""
        if self.processed() is not None:
            return ""
        return "gaps, duplicates and premature commits are not judged: the application does not tell what it processed"

    def reservations(self) -> str:
        """Return the points that were not judged so far, and why, for a reader of a passing
        test; "" if all were."""
        known = self.not_judged or reservations(self.evidence())
        said = [known, self.order_not_judged, *self.unknown]
        return "; ".join(text for text in said if text)

    def longest_hold(self) -> Hold | None:
        """Return the longest time for which a member of the application kept a rebalance
        waiting, without members that the test held up; None if none did."""
        told = self.told
        return longest_hold(
            self._lines_that_count(),
            self.application.group,
            told.not_its_own_doing(),
            told.by_itself,
            heartbeat_ms=round(self.heartbeat_interval_s * 1000),
        )

    def watch_brokers(self) -> None:
        """Watch brokers that were started again."""
        self._watch.install()

    def close(self) -> None:
        """Stop the application if it still runs, and stop watching."""
        self._watch.close()
        if self.running:
            self.stop()
        forget_made_topics(self.kafka, self.application)


def forget_made_topics(kafka: Emulator, application: Any) -> None:
    """Remove topics that the application itself names from the list of automatically created
    topics: their names are not misspelt, so no message may suggest that."""
    given = (getattr(application, each, None) for each in ("topic", "output_topic", "new_topic"))
    named = {name for name in given if isinstance(name, str)}

    def forget() -> None:
        for broker in kafka.brokers.values():
            for topic in named:
                broker.auto_created.pop(topic, None)

    kafka.run(forget)


def check(given: Any, kind: str) -> None:
    """Raise TypeError, which says what is missing, for an object that cannot be tested."""
    text = f"{type(given).__name__} is no {kind} under test: "
    for name in ("start", "stop", "kill"):
        if not callable(getattr(given, name, None)):
            raise TypeError(f"{text}it has no method {name}()")
    for name in ("topic", "group"):
        if not isinstance(getattr(given, name, None), str):
            raise TypeError(f"{text}its attribute {name} is to say a name")


def _output_headers(application: Any) -> tuple[str, ...]:
    """Return the names of the headers of records in the output topic. Raises TypeError if they
    are not three names."""
    names: Any = getattr(application, "output_headers", findings.OUTPUT_HEADERS)
    good = not isinstance(names, str) and isinstance(names, Sequence)
    if not good or len(names) != 3 or not all(isinstance(name, str) and name for name in names):
        raise TypeError(
            f"{type(application).__name__}.output_headers is {names!r}: give the names of the headers for topic, partition and offset, "
            f"such as {findings.OUTPUT_HEADERS}"
        )
    return tuple(names)
