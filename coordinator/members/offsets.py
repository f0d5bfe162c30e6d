"""Committed offsets of a member: commits, automatic and manual, and the OffsetFetch that gives
owned partitions their positions (CLI-15 to 17).

A member has positions for those owned partitions whose committed offset it fetched; without a
committed offset there is no position until the application sets one. Only positions are
committed.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors import TopicPartition
from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from coordinator.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from coordinator.wire.schema import Response

from . import discovery
from .effects import Committed, Position
from .faults import (
    Disconnected,
    GroupAuthorizationFailed,
    MemberFault,
    RebalanceInProgress,
    Refused,
    TopicAuthorizationFailed,
    code_of,
)
from .participant import Commit, InFlight, Participant
from .states import NO_GENERATION
from .subscription import Partitions

Offsets = Mapping[TopicPartition, Position]
_REDISCOVER = frozenset(
    {ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR, ErrorCode.REQUEST_TIMED_OUT}
)
_RETRY = frozenset({ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION})


# -- committing


def commit(
    m: Participant, offsets: Offsets, expires_at: int | None, now: int, *, is_own: bool = False
) -> Commit:
    """Start a commit; it is sent at once if the coordinator is known."""
    m.number += 1
    begun = Commit(m.number, dict(offsets), expires_at, now, is_own=is_own)
    m.commits[begun.number] = begun
    if not offsets:
        end(m, begun, None)
    push(m, now)
    return begun


def push(m: Participant, now: int) -> None:
    """Send the commits that wait for the coordinator or for a retry; end those whose time is over."""
    if not m.commits:
        return
    for waiting in [commit for commit in m.commits.values() if not commit.in_flight]:
        if waiting.expires_at is not None and now >= waiting.expires_at:
            end(
                m,
                waiting,
                MemberFault(
                    "the commit did not get through in time",
                    ErrorCode.REQUEST_TIMED_OUT,
                    retriable=True,
                ),
            )
        elif m.fatal_find is not None:
            end(m, waiting, m.fatal_find)
        elif m.coordinator is None:
            discovery.look_up(m, now)
        elif now >= waiting.again_at:
            _send(m, waiting, now)


def _send(m: Participant, commit: Commit, now: int) -> None:
    fault = m.refuse_commit()
    if fault is not None:
        end(m, commit, fault)
        return
    commit.in_flight = True
    m.send(request(m, commit.offsets), now, node=m.coordinator, commit=commit)


def request(m: Participant, offsets: Offsets) -> OffsetCommitRequest:
    """Return the request that commits these offsets, with the member's present generation."""
    by_topic: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, number), position in offsets.items():
        row = OffsetCommitRequestPartition(
            partition_index=number,
            committed_offset=position.offset,
            committed_leader_epoch=position.leader_epoch,
            committed_metadata=position.metadata,
        )
        by_topic.setdefault(topic, []).append(row)
    generation = m.generation if m.subscribed.wanted else NO_GENERATION
    return OffsetCommitRequest(
        group_id=m.config.group_id,
        generation_id_or_member_epoch=generation.generation_id,
        member_id=generation.member_id,
        group_instance_id=m.config.group_instance_id if m.subscribed.wanted else None,
        topics=[
            OffsetCommitRequestTopic(name=topic, partitions=rows)
            for topic, rows in by_topic.items()
        ],
    )


def end(m: Participant, commit: Commit, fault: MemberFault | None) -> None:
    """End a commit with its result."""
    m.commits.pop(commit.number, None)
    if commit is m.prepare_commit:
        m.prepare_commit = None
    if not commit.is_own:
        m.effects.append(Committed(commit.number, commit.offsets, fault))


def on_commit(m: Participant, sent: InFlight, response: Response | None, now: int) -> None:
    """Handle the answer (CLI-16): the first failed partition decides."""
    commit = sent.commit
    assert commit is not None
    commit.in_flight = False
    if commit.number not in m.commits:
        return
    if not isinstance(response, OffsetCommitResponse):
        fault: MemberFault | None = Disconnected("OffsetCommit", "the connection was lost")
    else:
        fault = _commit_fault(m, sent, response)
    if fault is not None and fault.retriable and not isinstance(fault, RebalanceInProgress):
        if commit.expires_at is not None:
            commit.again_at = now + m.commit_backoff.next()
            return
        if commit.is_own:
            m.next_auto_commit_at = now + m.config.retry_backoff_ms
    m.commit_backoff.reset()
    end(m, commit, fault)


def _commit_fault(
    m: Participant, sent: InFlight, response: OffsetCommitResponse
) -> MemberFault | None:
    unauthorized = []
    for topic in response.topics:
        for row in topic.partitions:
            if not row.error_code:
                continue
            error = code_of(row.error_code)
            if error is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
                unauthorized.append(topic.name)
                continue
            return _first_fault(m, sent, error, f"{topic.name}-{row.partition_index}")
    return TopicAuthorizationFailed(unauthorized) if unauthorized else None


def _first_fault(m: Participant, sent: InFlight, error: ErrorCode, where: str) -> MemberFault:
    if error is ErrorCode.GROUP_AUTHORIZATION_FAILED:
        return GroupAuthorizationFailed(
            "OffsetCommit", error, f"group {m.config.group_id}", retriable=False
        )
    if error in _RETRY:
        return Refused("OffsetCommit", error, where, retriable=True)
    if error in _REDISCOVER:
        discovery.forget(m, f"OffsetCommit was answered {error.name}")
        return Refused("OffsetCommit", error, where, retriable=True)
    return m.on_commit_refused(sent, error, where) or Refused(
        "OffsetCommit", error, where, retriable=False
    )


# -- the machine's own commits


def auto_commit(m: Participant, now: int) -> None:
    """Commit all positions, every auto.commit.interval.ms."""
    if m.config.enable_auto_commit and now >= m.next_auto_commit_at:
        m.next_auto_commit_at = now + m.config.auto_commit_interval_ms
        commit(m, m.subscribed.positions, None, now, is_own=True)


def skip_commit(m: Participant, sent_at: int) -> None:
    """Update the state as after a successful auto-commit sent at that instant."""
    m.number += 2  # the commit's and its request's
    m.next_auto_commit_at = sent_at + m.config.auto_commit_interval_ms
    m.commit_backoff.reset()


def skip_empty_commits(m: Participant, last: int, interval_ms: int, polls: int) -> None:
    """Update the time of the next auto-commit as after `polls` polls, at whole intervals up to
    `last`, of a member without positions.
    """
    if not m.config.enable_auto_commit:
        return
    first = last - (polls - 1) * interval_ms
    begins = max(
        0, -((first - m.next_auto_commit_at) // interval_ms)
    )  # the first poll at which one was due
    if begins < polls:
        every = max(1, -(-m.config.auto_commit_interval_ms // interval_ms))
        commits = (polls - 1 - begins) // every + 1
        m.number += commits  # each was nothing, and took a number
        m.next_auto_commit_at = (
            first
            + (begins + (commits - 1) * every) * interval_ms
            + m.config.auto_commit_interval_ms
        )


def commit_for_own_sake(m: Participant, expires_at: int, now: int) -> Commit | None:
    """Start the last commit of all positions, retried until that instant; return None if there is
    nothing to commit or no auto-commit.
    """
    if not m.config.enable_auto_commit or not m.subscribed.positions:
        return None
    return commit(m, m.subscribed.positions, expires_at, now, is_own=True)


def commit_before_rebalance(m: Participant, now: int) -> bool:
    """Return True when the auto-commit before a rebalance has succeeded or failed for good, or the
    rebalance timeout is over (CLI-23 (a)).
    """
    assert m.join_prepare_expires_at is not None
    if m.prepare_commit is not None:
        if now < m.join_prepare_expires_at:
            push(m, now)
        else:
            end(m, m.prepare_commit, None)  # no longer waited for
        return m.prepare_commit is None
    if m.prepare_committed:
        return True
    m.prepare_committed = True
    begun = commit_for_own_sake(m, m.join_prepare_expires_at, now)
    if begun is None or begun.number not in m.commits:
        return True
    m.prepare_commit = begun
    return False


# -- fetching


def look_up_positions(m: Participant, now: int) -> None:
    """Request the committed offsets of owned partitions without a known position. Raises the fault
    that ended the last attempt for good.
    """
    if m.offsets_fault is not None:
        fault, m.offsets_fault = m.offsets_fault, None
        raise fault
    unknown = m.subscribed.unknown_positions()
    if not unknown or m.offsets_in_flight or now < m.offsets_again_at or m.coordinator is None:
        return
    m.offsets_in_flight = True
    topics = [
        OffsetFetchRequestTopics(name=name, partition_indexes=numbers)
        for name, numbers in _by_topic(unknown).items()
    ]
    member_id, epoch = m.fetch_identity()
    message = OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id=m.config.group_id, member_id=member_id, member_epoch=epoch, topics=topics
            )
        ],
        require_stable=m.config.isolation_level == "read_committed",
    )
    m.send(message, now, node=m.coordinator)


def next_deadline(m: Participant, *, settled: bool) -> int | None:
    """Return the instant at which `poll` has work about offsets, or None. Only a `settled` member
    auto-commits and looks up positions.
    """
    due: int | None = None
    if settled:
        subscribed = m.subscribed
        if m.config.enable_auto_commit and subscribed.positions:
            due = m.next_auto_commit_at
        if (
            not m.offsets_in_flight
            and (due is None or m.offsets_again_at < due)
            and len(subscribed.looked_up) != len(subscribed.owned)
        ):
            due = m.offsets_again_at
    if m.prepare_commit is not None and m.join_prepare_expires_at is not None:
        due = m.join_prepare_expires_at if due is None else min(due, m.join_prepare_expires_at)
    if m.commits and m.coordinator is not None:
        for commit in m.commits.values():
            if not commit.in_flight and (due is None or commit.again_at < due):
                due = commit.again_at
    return due


def _by_topic(partitions: Partitions) -> dict[str, list[int]]:
    by_topic: dict[str, list[int]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append(number)
    return by_topic


def on_offsets(m: Participant, sent: InFlight, response: Response | None, now: int) -> None:
    """Handle the answer (CLI-17)."""
    m.offsets_in_flight = False
    if not isinstance(response, OffsetFetchResponse) or not response.groups:
        m.offsets_again_at = now + m.offsets_backoff.next()
        return
    group = response.groups[0]
    faults = [(code_of(group.error_code), "")] if group.error_code else []
    faults += [
        (code_of(p.error_code), f"{t.name}-{p.partition_index}")
        for t in group.topics
        for p in t.partitions
        if p.error_code
    ]
    if faults:
        _on_fetch_error(m, *faults[0], [topic.name for topic in group.topics], now)
        return
    m.offsets_backoff.reset()
    owned = set(m.subscribed.owned)
    for topic in group.topics:
        for row in topic.partitions:
            partition = TopicPartition(topic.name, row.partition_index)
            if partition in owned:
                m.subscribed.looked_up.add(partition)
                if row.committed_offset >= 0 and partition not in m.subscribed.positions:
                    m.subscribed.positions[partition] = Position(
                        row.committed_offset, row.committed_leader_epoch, row.metadata or ""
                    )


def _on_fetch_error(
    m: Participant, error: ErrorCode, where: str, topics: list[str], now: int
) -> None:
    m.offsets_again_at = now + m.offsets_backoff.next()
    if error in (ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.NOT_COORDINATOR):
        discovery.forget(m, f"OffsetFetch was answered {error.name}")
    elif error is ErrorCode.GROUP_AUTHORIZATION_FAILED:
        m.offsets_fault = GroupAuthorizationFailed(
            "OffsetFetch", error, f"group {m.config.group_id}", retriable=False
        )
    elif error is ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        m.offsets_fault = TopicAuthorizationFailed(topics)
    elif m.refetches_offsets(error):
        pass  # asked again after the backoff
    elif error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION or not (
        error.retriable or error is ErrorCode.UNSTABLE_OFFSET_COMMIT
    ):
        m.offsets_fault = Refused("OffsetFetch", error, where, retriable=False)
