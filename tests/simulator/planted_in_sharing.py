"""Bugs that are planted in share groups (KIP-932): locks, counts, what outlives a leader, dead letters."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.broker.shares import partitions
from coordinator.broker.shares.dead_letters import DeadLetters
from coordinator.broker.shares.partitions import SharePartitions
from coordinator.broker.shares.sessions import SessionKey, ShareSessions
from coordinator.broker.shares.settings import SettingsOfGroups
from coordinator.share_partitions import acknowledge, evolve, release
from coordinator.share_partitions import events as ev
from coordinator.share_partitions.model import SharePartition
from coordinator.share_partitions.states import Deliveries, RecordState

Patch = pytest.MonkeyPatch


def locks_never_end(patch: Patch) -> None:
    patch.setattr(SharePartitions, "_lock", lambda self, key, deadline_ms: None)


def locks_end_early(patch: Patch) -> None:
    expire = release.expire
    patch.setattr(release, "expire", lambda of, now, limit: expire(of, now + 2_000, limit))


def locks_are_half_as_long(patch: Patch) -> None:
    settings = SettingsOfGroups.__call__

    def shorter(self: SettingsOfGroups, group_id: str) -> Any:
        found = settings(self, group_id)
        return found._replace(lock_duration_ms=found.lock_duration_ms // 2)

    patch.setattr(SettingsOfGroups, "__call__", shorter)


def accepted_records_come_again_after_a_leader_change(patch: Patch) -> None:
    opened = partitions.opened

    def forgetful(*args: Any) -> Any:
        event = opened(*args)
        kept = tuple(of for of in event.records if of.state != str(RecordState.ACKNOWLEDGED))
        return event._replace(records=kept)

    patch.setattr(partitions, "opened", forgetful)


def delivery_counts_are_lost_at_load(patch: Patch) -> None:
    opened = partitions.opened

    def forgetful(*args: Any) -> Any:
        event = opened(*args)
        return event._replace(records=tuple(of._replace(delivery_count=0) for of in event.records))

    patch.setattr(partitions, "opened", forgetful)


def dead_letters_are_written_twice(patch: Patch) -> None:
    send = DeadLetters.send

    def twice(self: DeadLetters, *args: Any) -> None:
        send(self, *args)
        send(self, *args)

    patch.setattr(DeadLetters, "send", twice)


def dead_letters_are_forgotten(patch: Patch) -> None:
    patch.setattr(DeadLetters, "send", lambda self, *args: None)


def every_third_acknowledgement_is_forgotten(patch: Patch) -> None:
    acknowledges, count = SharePartitions.acknowledge, [0]

    def forgets(self: SharePartitions, *args: Any) -> Any:
        count[0] += 1
        return acknowledges(self, *args) if count[0] % 3 else None

    patch.setattr(SharePartitions, "acknowledge", forgets)


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


def the_limit_is_forgotten(patch: Patch) -> None:
    patch.setattr(Deliveries, "after_release", lambda self, count: RecordState.AVAILABLE)


def the_start_goes_back(patch: Patch) -> None:
    patch.setattr(release, "start_after", lambda *_: 0)
