"""Bugs that are planted in share groups (KIP-932): locks, counts, what outlives a leader, dead letters,
sessions of members."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.core.shards.timers import TimerKind, Timers
from coordinator.core.share_partitions import acknowledge, evolve, release
from coordinator.core.share_partitions.model import SharePartition
from coordinator.core.share_partitions.states import Deliveries, RecordState
from coordinator.events import share_partitions as ev
from coordinator.members.share import requests
from coordinator.server.shares import opening
from coordinator.server.shares.acknowledgements import Acknowledgements
from coordinator.server.shares.dead_letters import DeadLetters
from coordinator.server.shares.partitions import SharePartitions
from coordinator.server.shares.sessions import SessionKey, ShareSessions
from coordinator.server.shares.settings import SettingsOfGroups

Patch = pytest.MonkeyPatch
_SILENT = """
duration = "150s"
[topics]
jobs = 1
[[groups]]
name = "workers"
config = { "share.session.timeout.ms" = 60000 }
[[members]]
name = "worker"
protocol = "share"
group = "workers"
topics = "jobs"
count = 2
[[faults]]
verb = "PauseMember"
member = "worker-1"
at = "40s"
lasts = "90s"
"""
_RENEWS = """
duration = "60s"
[topics]
jobs = 1
[[groups]]
name = "workers"
config = { "share.auto.offset.reset" = "earliest", "share.record.lock.duration.ms" = 15000 }
[[producers]]
name = "source"
topics = "jobs"
rate = 1
stop = "10s"
[[members]]
name = "worker"
protocol = "share"
group = "workers"
topics = "jobs"
processing = "25s"
renew = "10s"
"""
_TOO_SLOW = _RENEWS.replace('renew = "10s"\n', "count = 3\n")
_MOVES = """
duration = "100s"
[topics]
jobs = 2
[brokers]
count = 2
config = { "default.replication.factor" = 2 }
[[groups]]
name = "workers"
config = { "share.auto.offset.reset" = "earliest" }
[[producers]]
name = "source"
topics = "jobs"
rate = 10
[[members]]
name = "worker"
protocol = "share"
group = "workers"
topics = "jobs"
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 0
to = 2
at = "10s"
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 1
to = 2
at = "10s"
[[faults]]
verb = "MoveLeader"
topic = "jobs"
partition = 0
to = 1
at = "20s"
[must]
stable_within = "30s"
"""
SCENARIOS = {
    "moved_partitions_stay_in_their_sessions": _MOVES,
    "share_sessions_end_early": _SILENT,
    "share_sessions_end_late": _SILENT,
    "share_sessions_never_end": _SILENT,
    "renewed_locks_end_as_if_they_were_not": _RENEWS,
    "locks_end_early_as_if_sessions_were_closed": _TOO_SLOW,
}
"""As in `planted_in_groups_and_logs`: a member of a share group is silent for longer than its group's
session timeout, works on a record for longer than its lock lasts and renews it or not, or reads two partitions of one
leader until it loses one of them."""


def locks_never_end(patch: Patch) -> None:
    patch.setattr(SharePartitions, "lock", lambda self, key, deadline_ms: None)


def locks_end_early(patch: Patch) -> None:
    expire = release.expire
    patch.setattr(release, "expire", lambda of, now, limit: expire(of, now + 2_000, limit))


def locks_end_early_as_if_sessions_were_closed(patch: Patch) -> None:
    expire = release.expire

    def early(of: SharePartition, now: int, limit: Deliveries) -> tuple[ev.RecordsReleased, ...]:
        events = expire(of, now + 2_000, limit)
        return tuple(event._replace(reason=release.SESSION_CLOSED) for event in events)

    patch.setattr(release, "expire", early)


def renewed_locks_end_as_if_they_were_not(patch: Patch) -> None:
    fold = evolve._FOLDS[ev.RecordsAcknowledged]

    def forgetful(partition: SharePartition, event: ev.RecordsAcknowledged) -> None:
        if event.deadline_ms is not None:
            event = event._replace(deadline_ms=event.deadline_ms - 10_000)
        fold(partition, event)

    patch.setitem(evolve._FOLDS, ev.RecordsAcknowledged, forgetful)


def locks_are_half_as_long(patch: Patch) -> None:
    settings = SettingsOfGroups.__call__

    def shorter(self: SettingsOfGroups, group_id: str) -> Any:
        found = settings(self, group_id)
        return found._replace(lock_duration_ms=found.lock_duration_ms // 2)

    patch.setattr(SettingsOfGroups, "__call__", shorter)


def accepted_records_come_again_after_a_leader_change(patch: Patch) -> None:
    opened = opening.opened

    def forgetful(*args: Any) -> Any:
        event = opened(*args)
        kept = tuple(of for of in event.records if of.state != str(RecordState.ACKNOWLEDGED))
        return event._replace(records=kept)

    patch.setattr(opening, "opened", forgetful)


def delivery_counts_are_lost_at_load(patch: Patch) -> None:
    opened = opening.opened

    def forgetful(*args: Any) -> Any:
        event = opened(*args)
        return event._replace(records=tuple(of._replace(delivery_count=0) for of in event.records))

    patch.setattr(opening, "opened", forgetful)


def dead_letters_are_written_twice(patch: Patch) -> None:
    send = DeadLetters.send

    def twice(self: DeadLetters, *args: Any) -> None:
        send(self, *args)
        send(self, *args)

    patch.setattr(DeadLetters, "send", twice)


def dead_letters_are_forgotten(patch: Patch) -> None:
    patch.setattr(DeadLetters, "send", lambda self, *args: None)


def every_third_acknowledgement_is_forgotten(patch: Patch) -> None:
    takes, count = Acknowledgements.take, [0]

    def forgets(self: Acknowledgements, *args: Any) -> Any:
        count[0] += 1
        return takes(self, *args) if count[0] % 3 else None

    patch.setattr(Acknowledgements, "take", forgets)


def releases_are_taken_for_acceptances(patch: Patch) -> None:
    after = Deliveries.after
    patch.setattr(Deliveries, "after", lambda self, kind, count: after(self, kind and 1, count))
    patch.setattr(acknowledge, "ACKNOWLEDGEMENTS", ("gap", *("accept",) * 4))


def released_records_stay_away(patch: Patch) -> None:
    patch.setattr(SharePartition, "fetch_offset", property(lambda self: self.next_offset))


def holders_are_not_noted(patch: Patch) -> None:
    patch.setitem(evolve._FOLDS, ev.RecordsAcquired, lambda partition, event: None)


def anybody_acknowledges(patch: Patch) -> None:
    patch.setattr(acknowledge, "_refuse", lambda *_, **__: None)


def share_session_epochs_are_not_checked(patch: Patch) -> None:
    go_on = ShareSessions.go_on

    def takes_any(self: ShareSessions, key: SessionKey, epoch: int) -> Any:
        known = self.get(key)
        return go_on(self, key, known.epoch if known is not None and epoch > 0 else epoch)

    patch.setattr(ShareSessions, "go_on", takes_any)


def moved_partitions_stay_in_their_sessions(patch: Patch) -> None:
    fetch = requests.fetch

    def forgetting_nothing(
        config: Any, member_id: str, session: Any, wanted: Any, *rest: Any, **of: Any
    ) -> Any:
        message = fetch(config, member_id, session, wanted, *rest, **of)
        message.forgotten_topics_data.clear()
        return message

    patch.setattr(requests, "fetch", forgetting_nothing)


def the_limit_is_forgotten(patch: Patch) -> None:
    patch.setattr(Deliveries, "after_release", lambda self, count: RecordState.AVAILABLE)


def the_start_goes_back(patch: Patch) -> None:
    patch.setattr(release, "start_after", lambda *_: 0)


# -- sessions of members


def share_sessions_end_early(patch: Patch) -> None:
    _sessions_end(patch, -15_000)


def share_sessions_end_late(patch: Patch) -> None:
    _sessions_end(patch, 15_000)


def share_sessions_never_end(patch: Patch) -> None:
    _sessions_end(patch, 10**9)


def _sessions_end(patch: Patch, later_ms: int) -> None:
    arm = Timers.arm

    def at_another_time(self: Timers, key: Any, at: int) -> None:
        arm(self, key, at + later_ms if key[0] == TimerKind.SHARE_SESSION else at)

    patch.setattr(Timers, "arm", at_another_time)
