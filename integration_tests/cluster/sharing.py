"""Share groups (KIP-932) on several brokers: a topic whose leader is known, a group whose own
coordinator and whose share coordinator are, and members at any broker.

Owns which names have their state where a scenario wants it. Judges nothing.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from integration_tests.cluster.stage import (
    BROKERS,
    SHARE_STATES,
    Cluster,
    coordinator_partition,
    whole,
)
from integration_tests.wire.raw import Plain
from integration_tests.wire.sharing import Sharer

_SECONDS_ENOUGH = {
    "share.auto.offset.reset": "earliest",
    "share.record.lock.duration.ms": "60000",
}
"""Locks do not end while a broker is slow to start."""


class SharedTopic:
    """A topic of one partition with records, led by broker 1 and followed by 2 and 3, and a share
    group that reads it from the start: coordinated by `group_at`, its state kept by `states_at`."""

    def __init__(
        self,
        c: Cluster,
        *sizes: int,
        states_at: int = 3,
        group_at: int = 2,
        settings: Mapping[str, str] = {},
    ) -> None:
        self.c, self.s = c, c.s
        _lay_out(c)
        self.topic = c.topic("t", [1, 2, 3])
        self.id = c.topic_id(self.topic)
        self.group = c.name("g", group_at)
        self._have_states_at(states_at)
        self._configure({**_SECONDS_ENOUGH, **settings})
        self._initialize(states_at)
        for size in sizes:
            c.produce(self.topic, *[b"v"] * size, broker=1)

    @property
    def states(self) -> int:
        """The partition of `__share_group_state` that has the group's state."""
        topic_id = base64.urlsafe_b64encode(bytes.fromhex(self.id)).decode().rstrip("=")
        return coordinator_partition(f"{self.group}:{topic_id}:0")

    def member(self, label: str, broker: int) -> SharerAt:
        """A member that fetches from a broker."""
        return SharerAt(self, label, broker)

    def state(self, broker: int, *, epoch: int = 0) -> Plain:
        """What a broker has stored, as told to a leader of this epoch."""
        return self.c.at(broker).ask("ReadShareGroupState", 0, **self._of(leader_epoch=epoch))

    def stored(self, broker: int) -> list[tuple[int, ...]]:
        """Ranges with state and delivery count that a broker has stored, without a step; empty if
        it does not serve them."""
        answer = self.c.quietly("ReadShareGroupState", 0, broker, **self._of(leader_epoch=0))
        (found,) = answer["results"][0]["partitions"]
        return [tuple(of.values()) for of in found["state_batches"]]

    def served(self, broker: int) -> None:
        """Wait until a broker serves the group's state."""

        def answers() -> bool:
            answer = self.c.quietly(
                "ReadShareGroupStateSummary", 0, broker, **self._of(leader_epoch=0)
            )
            return bool(answer["results"][0]["partitions"][0]["error_code"] == 0)

        self.s.until(answers, f"{broker} never served the group's state")

    def led(self, broker: int, high_watermark: int) -> None:
        """Wait until a broker leads the topic, and knows that all of it is committed."""
        self.c.until(self.topic, 0, leader_id=broker)
        self.c.committed_at(self.topic, broker, high_watermark)

    def move_states(self, to: int) -> None:
        """Let another broker be the share coordinator."""
        self.c.lead(SHARE_STATES, self.states, to)
        self.served(to)

    def described(self, broker: int) -> Plain:
        """DescribeShareGroupOffsets at a broker, once it is the group's coordinator."""
        topics = [{"topic_name": self.topic, "partitions": [0]}]
        return self.c.at(broker).ask_until(
            lambda answer: not answer["groups"][0]["error_code"],
            "DescribeShareGroupOffsets",
            1,
            groups=[{"group_id": self.group, "topics": topics}],
        )

    def _of(self, **fields: int) -> Plain:
        partitions = [{"partition": 0, **fields}]
        return {"group_id": self.group, "topics": [{"topic_id": self.id, "partitions": partitions}]}

    def _have_states_at(self, broker: int) -> None:
        """Which partition has the state follows from the topic's id, so that partition is led where
        it is wanted; its followers come after that one in the order of their ids."""
        ordered = [(broker - 1 + step) % len(BROKERS) + 1 for step in range(len(BROKERS))]
        entry = {"partition_index": self.states, "replicas": ordered}
        self.c.quietly(
            "AlterPartitionReassignments",
            0,
            topics=[{"name": SHARE_STATES, "partitions": [entry]}],
            timeout_ms=10_000,
        )
        self.c.until(SHARE_STATES, self.states, replica_nodes=ordered)
        self.c.lead(SHARE_STATES, self.states, broker)

    def _configure(self, named: Mapping[str, str]) -> None:
        of = {"resource_type": 32, "resource_name": self.group}
        configs = [{"name": k, "config_operation": 0, "value": v} for k, v in named.items()]
        self.c.quietly(
            "IncrementalAlterConfigs",
            1,
            resources=[{**of, "configs": configs}],
            validate_only=False,
        )

        def seen(broker: int) -> bool:
            answer = self.c.quietly(
                "DescribeConfigs",
                4,
                broker,
                resources=[{**of, "configuration_keys": list(named)}],
            )
            return all(entry["config_source"] == 8 for entry in answer["results"][0]["configs"])

        self.s.until(
            lambda: all(seen(broker) for broker in BROKERS), "the group never was configured"
        )

    def _initialize(self, states_at: int) -> None:
        def done() -> bool:
            answer = self.c.quietly(
                "InitializeShareGroupState",
                0,
                states_at,
                **self._of(state_epoch=0, start_offset=-1),
            )
            return bool(answer["results"][0]["partitions"][0]["error_code"] == 0)

        self.s.until(done, "the group's state was never initialized")


def _lay_out(c: Cluster) -> None:
    """Have the states' topic made and laid out."""
    if not c.partition(SHARE_STATES):
        key = f"g:{'A' * 22}:0"
        c.s.until(
            lambda: (
                not c.quietly("FindCoordinator", 6, key_type=2, coordinator_keys=[key])[
                    "coordinators"
                ][0]["error_code"]
            ),
            "there never was a share coordinator",
        )
        whole(c.s.addresses)


class SharerAt(Sharer):
    """A member whose session is at one broker."""

    def __init__(self, shared: SharedTopic, label: str, broker: int) -> None:
        self.shared = shared
        self.link = shared.c.connect(label, broker)
        self.member_id = f"member-{label}"
        self.epoch = 0

    def begin(self, *partitions: int, version: int = 2, **other: Any) -> Plain:
        """Begin the session once the broker knows that it leads and what is committed, and has read
        the state: when it gives records. Only the answer to that leaves steps."""
        self.epoch = 0
        fields = self.fields(0, **{"max_wait_ms": 500, **other})

        def given(answer: Plain) -> bool:
            return any(
                of["acquired_records"] for one in answer["responses"] for of in one["partitions"]
            )

        return self.took(self.link.ask_until(given, "ShareFetch", version, **fields))
