"""The tables, declared: their columns, types, meaning and order. docs/tables.md is written from
this.

Owns `SCHEMA_VERSION`, which rises when a column is removed or changes its meaning, but not for
new columns and tables. Instants are whole milliseconds since the run's zero (`runs.epoch_ms` is
that zero on the wall clock), durations whole milliseconds. This module must not know Arrow or
Spark; `fold/` fills the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

SCHEMA_VERSION: Final = 3
Row = tuple[Any, ...]


class Column(NamedTuple):
    """One column. `type`: string, int (64 bits), bool, texts (a list of strings) or ints (a list
    of 64-bit integers)."""

    name: str
    type: str
    meaning: str
    nullable: bool = False


class Table(NamedTuple):
    """One table: the meaning of a row, the columns, and the columns by which rows are ordered
    within a file."""

    name: str
    row: str
    columns: tuple[Column, ...]
    order: str

    def names(self) -> list[str]:
        """Return the columns' names, in order."""
        return [column.name for column in self.columns]


def _columns(text: str) -> tuple[Column, ...]:
    """Read columns from lines such as `seq int: the line's number`; a type with `?` may be null."""
    columns = []
    for line in filter(str.strip, text.split("\n")):
        head, _, meaning = line.strip().partition(": ")
        name, kind = head.split()
        columns.append(Column(name, kind.rstrip("?"), meaning, kind.endswith("?")))
    return tuple(columns)


_RUN = "run_id string: the run: its log's path, `#`, its name in the log, and `~2`, `~3`, ... for later ones of that name\n"
_TABLES = (
    Table(
        "runs",
        "a run",
        _columns(
            _RUN
            + """
        log string: the log's path, as it was given
        run string: the run's name in its log
        format int: the log's format
        product string?: who wrote it, and its version
        seed string?: the seed of every id that was drawn
        epoch_ms int?: the wall clock of the run's zero, in Unix milliseconds
        config string?: the configuration in force, as JSON
        scenario string?: the scenario's file or name, where the run is a simulation of a sweep
        settings string?: the simulation's settings, as JSON
        end_ms int: the instant of the last line
        lines int: lines that became events
        quarantined int: lines that went to quarantine
        cut_short bool: the last line was cut short, and left out
        groups int: groups in the run
        rebalances int: rebalances that began, group epochs of consumer groups (KIP-848) included
        completed_rebalances int: rebalances of classic groups that went from CompletingRebalance to Stable
        complete bool: the log ends with RunEnded or CoordinatorStopped
        damage string?: what could not be told at the end, because a line in quarantine had left its traces; null: nothing
        gaps int: places where lines are missing by their numbers, or in quarantine; what judges find after the first is not judged
        missing int: how many lines are missing there"""
        ),
        "run_id",
    ),
    Table(
        "events",
        "a line of the log",
        _columns(
            _RUN
            + """
        seq int: the line's number in its run
        at_ms int: when it happened
        stream string: the log's stream
        type string: what happened
        cause int?: the seq of what made it happen
        group_id string?: the group
        generation int?: the group's generation after it
        member_id string?: the member
        broker int?: the broker
        topic string?: the topic
        partition int?: the partition's number
        detail string: the event's own fields, as JSON"""
        ),
        "run_id, seq",
    ),
    Table(
        "rebalances",
        "a classic group's way to one generation",
        _columns(
            _RUN
            + """
        group_id string: the group
        seq int: of its RebalanceStarted
        number int: the group's rebalances, counted from 1
        generation int?: the generation it led to; null if it never did
        outcome string: stable, empty, interrupted, lost, joining, syncing (docs/event_log.md)
        trigger string: the type of the event that began it
        trigger_reason string?: why a member was removed, where that began it
        trigger_members texts: short names of the members that began it
        started_ms int: when it began
        join_phase_ms int?: how long the join phase took
        sync_phase_ms int?: how long the sync phase took
        duration_ms int?: from its beginning until the group was Stable
        stable_ms int?: when the group was Stable
        ended_ms int?: when the next rebalance began, or the group went
        initial_delay_ms int?: the length of the initial delay; null if it is not an initial rebalance
        leader string?: the leader's short name
        assignor string?: the assignor that was chosen
        members int: members of the generation
        joined int: members that came, MemberJoined
        rejoined int: members that joined again
        left int: members that left by their own word
        expired int: members whose session expired, or that did not rejoin or sync in time
        fenced int: static members whose place a newer instance took
        added int: partitions that members have and did not have before, summed over members
        revoked int: partitions that members had before and do not have any more, summed over members
        moved int: partitions that were given to another member id than the last one that had them
        moved_between_processes int: partitions that were given to another client id than the last one that had them
        lost int: partitions of members that were removed on the way
        unowned_partition_ms int: time in which nobody worked on a partition because of it, summed over partitions, at least
        unowned_at_most_ms int: the same, at most: with the silence of members that expired
        unowned_longest_ms int: the longest such time of one partition, at least
        causes texts: from the trigger back to the first cause, what was done to a removed member included: `seq type who`
        why string: why it happened, in one sentence"""
        ),
        "run_id, group_id, seq",
    ),
    Table(
        "generations",
        "a generation of a classic group",
        _columns(
            _RUN
            + """
        group_id string: the group
        generation int: its number
        seq int: of its GenerationStarted
        rebalance_seq int?: of the RebalanceStarted that led to it
        started_ms int: when the join phase ended
        stored_seq int?: of its GenerationStored; null if it never was Stable
        stored_ms int?: when its assignment was stored
        leader_id string?: the leader's member id
        assignor string?: the assignor that was chosen
        members texts: member ids, in the order of the log
        topics int: topics that were assigned
        partitions int: partitions that were assigned"""
        ),
        "run_id, group_id, seq",
    ),
    Table(
        "epochs",
        "a group epoch of a consumer group (KIP-848)",
        _columns(
            _RUN
            + """
        group_id string: the group
        epoch int: its number
        seq int: of its GroupEpochBumped
        started_ms int: when the group epoch was bumped
        reason string: why, in words
        assignor string?: the server-side assignor
        assigned_ms int?: when the target assignment was made; null if it never was
        settled_ms int?: when every member had reached the epoch, with nothing to revoke or to wait for; null: a later epoch came first
        members int: members when the target was made
        targets_changed int: members whose target changed
        moved int: partitions that were given to another member id than the last one that had them, by the target
        moved_between_processes int: the same by client id
        unowned_partition_ms int: as of table rebalances: at least
        unowned_at_most_ms int: as of table rebalances: at most
        unowned_longest_ms int: as of table rebalances: the longest of one partition"""
        ),
        "run_id, group_id, seq",
    ),
    Table(
        "seen_rebalances",
        "a rebalance of somebody else's cluster, as its logs tell it (`coordinator diagnose --log`); null: they do not",
        _columns(
            _RUN
            + """
        group_id string: the group
        seq int: of its RebalanceSeen
        generation int: the generation, or group epoch, that began
        at_ms int?: when it was complete; null if its line has no time stamp
        cause string?: why it began, as docs/diagnose.md lists causes
        certainty string?: shown, follows, likely
        member string?: whose doing it was
        held_up_by string?: the member that the join phase waited for
        removed texts: members that were thrown out at its end
        join_phase_ms int?: how long the join phase took
        members int?: members of the generation
        returns bool?: whether the member was in the group before, under another id
        empty bool: whether the group was empty from then on
        evidence texts: the lines that show it: `file:number`
        why string: why it began, in words"""
        ),
        "run_id, group_id, seq",
    ),
    Table(
        "ownership",
        "an interval in which a member had a partition",
        _columns(
            _RUN
            + """
        group_id string: the group
        view string: `coordinator`: as it gave it; `member`: as listeners were told, one owner at a time; `listener`: each for itself
        topic string: the topic
        partition int: the partition's number
        member_id string: who had it
        generation int?: the generation (or member epoch) in which it got it
        from_seq int: the line that gave it
        from_ms int: since when
        to_seq int?: the line that took it; null: nobody took it before the log's end
        to_ms int?: until when
        ended_by string?: the type of the line that took it"""
        ),
        "run_id, group_id, topic, partition, view, from_seq",
    ),
    Table(
        "members",
        "a member id's time in a group",
        _columns(
            _RUN
            + """
        group_id string: the group
        member_id string: the id
        protocol string: classic, consumer or share
        client_id string?: the client id
        client_host string?: the client's address
        group_instance_id string?: of a static member
        joined_seq int: the line that added it
        joined_ms int: when
        left_seq int?: the line that took it out; null: it is there at the log's end
        left_ms int?: when
        reason string?: why: the reason of its removal, `replaced`, or what became of its group
        replaced_by string?: the member id that took its place
        rejoins int: how often it joined again
        commits int: commits that were accepted from it"""
        ),
        "run_id, group_id, joined_seq",
    ),
    Table(
        "requests",
        "a request that the log shows",
        _columns(
            _RUN
            + """
        seq int: of its RequestSeen, or of its refusal where it was not logged when it came
        at_ms int: when it came, or was refused
        api string: the API, as the log names it
        version int?: its version
        client string?: the client id
        peer string?: the client's address
        group_id string?: the group
        member_id string?: the member it speaks for
        generation int?: the generation it names
        outcome string: answered, refused, open (no answer until the log's end)
        answered_seq int?: the line of its answer
        answered_ms int?: when it was answered
        waited_ms int?: how long it was parked
        errors texts: Kafka's names of the errors it was refused with"""
        ),
        "run_id, answered_seq (open ones last)",
    ),
    Table(
        "commits",
        "an offset of one partition that was committed",
        _columns(
            _RUN
            + """
        seq int: of its line
        at_ms int: when
        group_id string: the group
        member_id string?: who; null without membership
        generation int?: the group's generation
        topic string: the topic
        partition int: the partition's number
        offset int: the offset
        producer_id int?: whose transaction it is pending in; null if it counts at once"""
        ),
        "run_id, seq",
    ),
    Table(
        "deliveries",
        "records of a share group (KIP-932) that a member was given by one line, and that ended by one line",
        _columns(
            _RUN
            + """
        group_id string: the share group
        topic string: the topic
        partition int: the partition's number
        first_offset int: the first record
        last_offset int: the last one
        records int: how many offsets that are
        delivery_count int: the how many-th delivery of these records it was
        member_id string: the member
        acquired_seq int: of its RecordsAcquired
        acquired_ms int: when
        renewals int: how often their lock was renewed
        outcome string: accepted, released, rejected, gap, lock ended, taken back, archived, closed, open (see `delivery_counts`)
        state string?: the records' state after it
        reason string?: why, where no member said it
        ended_seq int?: of the line that ended it
        ended_ms int?: when
        held_ms int?: how long the member had them"""
        ),
        "run_id, ended_seq (open ones last)",
    ),
    Table(
        "delivery_counts",
        "the nth deliveries of a share group's records of a topic (KIP-932), as numbers of records",
        _columns(
            _RUN
            + """
        group_id string: the share group
        topic string: the topic
        delivery_count int: n
        records int: records that were delivered for the nth time
        accepted int: of which the member accepted so many
        released int: released by the member
        rejected int: rejected by the member
        gaps int: of which the member said that there are none
        locks_ended int: whose lock ended
        taken_back int: taken back without the member's word, before the lock's end
        archived int: that left the log
        closed int: whose leader served the share partition no longer
        open int: that were held at the log's end
        given_up int: that are delivered no more, though nobody rejected them: it was the last delivery
        held_ms int: how long members had them, summed over records
        longest_held_ms int: the longest such time"""
        ),
        "run_id, group_id, topic, delivery_count",
    ),
    Table(
        "transactions",
        "a transaction",
        _columns(
            _RUN
            + """
        transactional_id string: the transactional id
        producer_id int?: the producer
        producer_epoch int?: the epoch of its markers
        begun_seq int?: of the PartitionsEnlisted that began it; null if the log does not show it
        begun_ms int?: when it began
        partitions int: partitions that came into it
        prepared_seq int?: of its TransactionPrepared
        prepared_ms int?: when its end was decided
        committed bool?: committed, or aborted
        reason string?: why it ended
        completed_seq int?: of its TransactionCompleted
        completed_ms int?: when all markers were written"""
        ),
        "run_id, transactional_id, in the order of the log",
    ),
    Table(
        "reassignments",
        "a partition on its way to other replicas",
        _columns(
            _RUN
            + """
        topic string: the topic
        partition int: the partition's number
        started_seq int?: of its ReassignmentStarted; null if the log does not show it
        started_ms int?: when it began
        adding ints: replicas that are to come
        removing ints: replicas that are to go
        reason string?: why, in words
        outcome string: completed, cancelled, running
        ended_seq int?: of the line that ended it
        ended_ms int?: when"""
        ),
        "run_id, topic, partition, in the order of the log",
    ),
    Table(
        "faults",
        "a line of stream fault",
        _columns(
            _RUN
            + """
        seq int: the line's number
        at_ms int: when
        type string: what was done, or what was skipped
        action string?: what was done to a request
        group_id string?: the group
        member_id string?: the member
        client string?: the client
        broker int?: the broker
        detail string: all its own fields, as JSON"""
        ),
        "run_id, seq",
    ),
    Table(
        "verdicts",
        "what one judge says of one run",
        _columns(
            _RUN
            + """
        judge string: the judge
        promise string: what it watches
        judgement string: kept, broken, not judged
        why string?: why it was not judged
        findings int: lines that broke the promise"""
        ),
        "run_id, in the order of the judges",
    ),
    Table(
        "findings",
        "a line that broke a promise",
        _columns(
            _RUN
            + """
        judge string: the judge
        seq int: the line
        at_ms int: when
        text string: what is wrong"""
        ),
        "run_id, judge, seq",
    ),
    Table(
        "metrics",
        "what a run cost its groups",
        _columns(
            _RUN
            + """
        events int: lines of the log
        members int: member ids that joined
        rebalances int: rebalances that began, group epochs of consumer groups (KIP-848) included
        stable int: rebalances of classic groups that ended Stable
        generations int: generations that began
        epochs int: group epochs of consumer groups
        rebalancing_ms int: from the beginning of a rebalance until Stable, summed over those that ended Stable
        longest_rebalance_ms int: the longest of them
        first_joins int: rebalances in which the first members came to an empty group, and first epochs of consumer groups
        first_join_ms int: from their beginning until Stable, summed over those of classic groups
        longest_later_ms int: the longest of the other rebalances
        join_phase_ms int: their join phases, summed
        sync_phase_ms int: their sync phases, summed
        settling_ms int: from the bump of a group epoch until it was settled, summed over those that were
        unavailable_partition_ms int: time in which no application had a partition, from its first owner on, summed over partitions
        longest_unavailable_ms int: the longest such time of one partition
        lost_at_least_ms int: time in which nobody worked on a partition that a group reads, summed over partitions, at least
        lost_at_most_ms int: the same, at most: with the silence of members that expired
        moved int: partitions that were given to another member id, of consumer groups by their targets
        moved_between_processes int: the same by client id
        revoked int: partitions that members had and do not have after a rebalance, summed
        lost int: partitions of members that were removed
        detected int: killed members that the coordinator removed because their session expired
        detection_ms int: from the kill to the removal, summed
        longest_detection_ms int: the longest of them
        false_expiries int: members whose session expired although nobody had killed them
        requests int: requests that the log shows
        refused int: those that were refused
        refused_commits int: commits that were refused
        commits int: offsets that were committed
        findings int: lines that broke a judge's promise"""
        ),
        "run_id",
    ),
    Table(
        "windows",
        "a part of a simulation that its sweep names: from one event until the next",
        _columns(
            _RUN
            + """
        name string: the window's name in the sweep file
        from_ms int: when it begins
        to_ms int: when the next one begins, or the simulation ends
        rebalances int: rebalances of classic groups that began in it
        epochs int: group epochs of consumer groups (KIP-848) that began in it
        recovered_ms int: from its beginning until the last rebalance was Stable and the last group epoch settled; 0 without any
        rebalancing_ms int: from the beginning of each rebalance until it was Stable, summed
        longest_rebalance_ms int: the longest of them
        settling_ms int: from the bump of each group epoch until it was settled, summed over those that were
        unavailable_partition_ms int: time in which no application had a partition, within the window, summed over partitions
        moved int: partitions that were given to another member id in them, of consumer groups by their targets
        sent_bytes int: bytes that members and brokers sent each other within the window
        extra_bytes int: those beyond what they sent in the quiet seconds before it, at the same rate"""
        ),
        "run_id, from_ms",
    ),
    Table(
        "cells",
        "a simulation of a sweep",
        _columns("""
        cell_id string: of scenario, settings, seed and version: the same simulation has the same
        number int: its place in the sweep, from 0
        run_id string?: its run in the other tables; null if it could not be run
        scenario string: the scenario's name or file
        variant string: what was varied, `PATH=VALUE` with a space between
        settings texts: all settings, as `coordinator simulate --set` takes them
        seed int: the seed
        status string: ok, broken (something that must hold did not), failed (the simulation ended in an error)
        problem string?: of a failed one: the error; of a broken one: the judges
        cpu_ms int: what it took, folding included"""),
        "number",
    ),
    Table(
        "quarantine",
        "a line that could not be read",
        _columns("""
        log string: the log's path
        line int: the line's number in the file, from 1
        offset int: where the line begins in the file, in bytes (of the unpacked text, if it is compressed)
        run_id string?: the run in whose course it stands
        reason string: what is wrong, and what would be right
        text string: the line's first 200 characters"""),
        "log, line",
    ),
)
TABLES: Final[Mapping[str, Table]] = {table.name: table for table in _TABLES}
"""Every table by its name."""


def documentation() -> str:
    """Return docs/tables.md."""
    parts = [_HEAD.format(version=SCHEMA_VERSION)]
    for table in TABLES.values():
        parts.append(
            f"\n## {table.name}\n\nA row is {table.row}. Order within a file: {table.order}.\n\n"
        )
        parts.append("| column | type | meaning |\n|---|---|---|\n")
        parts.extend(
            f"| `{name}` | {kind}{', may be null' * nullable} | {meaning} |\n"
            for name, kind, meaning, nullable in table.columns
        )
    return "".join(parts)


_HEAD = """\
# The tables

For queries on [the pipeline's](pipeline.md) output. `coordinator tables LOGS... --out DIR` writes the tables as Parquet files
`DIR/TABLE/chunk=N/TABLE.parquet`. A chunk is a
bin of runs; a run is in one chunk. Schema version {version}; it stands in `DIR/manifest.json` and in each file's metadata. It is raised
when a column changes its meaning or goes; new columns and tables do not raise it.

This page is written by `python -m coordinator.lab.pipeline.schemas` from that module's tables. Types:
`string`, `int` (64 bits), `bool`, `texts` (a list of strings), `ints` (a list of integers). Instants are whole milliseconds since the run's
zero, durations whole milliseconds. Short names of members are those of `coordinator explain`.
"""

if __name__ == "__main__":
    print(documentation(), end="")
