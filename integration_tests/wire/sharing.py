"""Members of share groups (KIP-932) for scenarios: they fetch and acknowledge, each on a connection
of its own, and their session's epochs go on by themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from integration_tests.wire import batches
from integration_tests.wire.consumers import topics
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session

ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
PROFILE = "shares"
UNKNOWN_TOPIC_OR_PARTITION = 3


def records(s: Session, name: str, *sizes: int, partition: int = 0, **batch: Any) -> None:
    """Batches of so many records each."""
    for size in sizes:
        data = batches.batch(*[b"v"] * size, **batch)
        of_partition = [{"index": partition, "records": data}]

        def written(rows: list[Plain] = of_partition) -> bool:
            answer = s.stage().ask_quietly(
                "Produce",
                9,
                acks=-1,
                timeout_ms=5_000,
                topic_data=[{"name": name, "partition_data": rows}],
            )
            error: int = answer["responses"][0]["partition_responses"][0]["error_code"]
            return error != UNKNOWN_TOPIC_OR_PARTITION

        s.until(written, f"{name}-{partition} never was there")


def configure(s: Session, group: str, named: Mapping[str, str]) -> None:
    """A group's own configuration. It is in force when it is to be seen."""
    link = s.stage()
    configs = [{"name": k, "config_operation": 0, "value": v} for k, v in named.items()]
    of = {"resource_type": 32, "resource_name": group}
    link.ask_quietly(
        "IncrementalAlterConfigs",
        1,
        resources=[{**of, "configs": configs}],
        validate_only=False,
    )

    def seen() -> bool:
        answer = link.ask_quietly(
            "DescribeConfigs", 4, resources=[{**of, "configuration_keys": list(named)}]
        )
        found = answer["results"][0]["configs"]
        return all(entry["config_source"] == 8 for entry in found)

    s.until(seen, f"{group} never had its {', '.join(named)}")


def initialize(
    s: Session, group: str, topic: str, *partitions: int, start: int = -1, epoch: int = 0
) -> None:
    """Have the states of partitions initialized, as a heartbeat of a share member does."""
    link = s.stage()

    def coordinated() -> bool:
        answer = link.ask_quietly(
            "FindCoordinator", 6, key_type=2, coordinator_keys=["g:AAAAAAAAAAAAAAAAAAAAAA:0"]
        )
        return bool(answer["coordinators"][0]["error_code"] == 0)

    s.until(coordinated, "there never was a share coordinator")
    rows = [
        {"partition": index, "state_epoch": epoch, "start_offset": start} for index in partitions
    ]

    def done() -> bool:
        answer = link.ask_quietly(
            "InitializeShareGroupState",
            0,
            group_id=group,
            topics=[{"topic_id": id_of(s, topic), "partitions": rows}],
        )
        return all(of["error_code"] == 0 for of in answer["results"][0]["partitions"])

    s.until(done, f"{group}'s state was never initialized")


def id_of(s: Session, topic: str) -> str:
    """A topic's id."""
    answer = s.stage().ask_quietly(
        "Metadata", 12, topics=[{"name": topic}], allow_auto_topic_creation=False
    )
    return str(answer["topics"][0]["topic_id"])


class Shared:
    """A topic that a share group reads from the start: its name, id, and the group."""

    def __init__(
        self, s: Session, *sizes: int, partitions: int = 1, settings: Mapping[str, str] = {}
    ) -> None:
        self.s = s
        (self.topic,) = topics(s, partitions)
        self.id = id_of(s, self.topic)
        self.group = s.name("g")
        configure(s, self.group, {"share.auto.offset.reset": "earliest", **settings})
        initialize(s, self.group, self.topic, *range(partitions))
        records(s, self.topic, *sizes)

    def produce(self, *sizes: int, partition: int = 0, **batch: Any) -> None:
        """More records."""
        records(self.s, self.topic, *sizes, partition=partition, **batch)

    def state(self, *, epoch: int = 0, partition: int = 0) -> Plain:
        """What the share coordinator has stored."""
        return self.s.stage().ask(
            "ReadShareGroupState",
            0,
            group_id=self.group,
            topics=[
                {
                    "topic_id": self.id,
                    "partitions": [{"partition": partition, "leader_epoch": epoch}],
                }
            ],
        )

    def stored_states(self) -> list[int]:
        """The delivery states that are stored of partition 0, without a step."""
        return [of["delivery_state"] for of in self._stored()]

    def stored_deliveries(self) -> list[int]:
        """How often the records were delivered whose state is stored of partition 0, without a
        step."""
        return [of["delivery_count"] for of in self._stored()]

    def stored_ranges(self) -> list[tuple[int, int]]:
        """The offsets whose state is stored of partition 0, without a step."""
        return [(of["first_offset"], of["last_offset"]) for of in self._stored()]

    def _stored(self) -> list[Plain]:
        answer = self.s.stage().ask_quietly(
            "ReadShareGroupState",
            0,
            group_id=self.group,
            topics=[{"topic_id": self.id, "partitions": [{"partition": 0, "leader_epoch": 0}]}],
        )
        stored: list[Plain] = answer["results"][0]["partitions"][0]["state_batches"]
        return stored

    def sharer(self, label: str = "a") -> Sharer:
        """A member."""
        return Sharer(self, label)


class Work(Protocol):
    """What a member works on: the topic with this id, for this group."""

    s: Session
    id: str
    group: str


class Sharer:
    """One member with its share session."""

    def __init__(self, shared: Work, label: str, link: Link | None = None) -> None:
        self.shared = shared
        self.link: Link = link or shared.s.connect(label, client_id=label)
        self.member_id = f"member-{label}"
        self.epoch = 0

    def part(self, partition: int = 0, *acks: tuple[int, ...]) -> Plain:
        """A partition, with ranges (first, last, types ...) to acknowledge."""
        return {
            "partition_index": partition,
            "acknowledgement_batches": [
                {"first_offset": of[0], "last_offset": of[1], "acknowledge_types": list(of[2:])}
                for of in acks
            ],
        }

    def fields(
        self, *partitions: int, acks: tuple[tuple[int, ...], ...] = (), **other: Any
    ) -> Plain:
        """A fetch's fields; `acks` are of partition 0."""
        named = [self.part(index) for index in partitions if index or not acks]
        if acks:
            named.append(self.part(0, *acks))
        fields: Plain = {
            "group_id": self.shared.group,
            "member_id": self.member_id,
            "share_session_epoch": self.epoch,
            "max_wait_ms": 0,
            "min_bytes": 1,
            "max_bytes": 1 << 20,
            "max_records": 500,
            "batch_size": 500,
            "topics": [{"topic_id": self.shared.id, "partitions": named}] if named else [],
        }
        return fields | other

    def begin(self, *partitions: int, version: int = 2, **other: Any) -> Plain:
        """Begin the session with a fetch that waits until its partitions can be read: a broker
        loads their state meanwhile."""
        self.epoch = 0
        waits = {"max_wait_ms": 10_000, **other}
        return self.took(
            self.link.ask(
                "ShareFetch",
                version,
                shuffled="responses" if len(partitions) > 1 else "",
                **self.fields(*(partitions or (0,)), **waits),
            )
        )

    def fetch(self, *partitions: int, version: int = 2, **other: Any) -> Plain:
        """A fetch of a session that has begun."""
        return self.took(self.link.ask("ShareFetch", version, **self.fields(*partitions, **other)))

    def took(self, answer: Plain) -> Plain:
        """An answer came: the session goes on."""
        if answer["error_code"] == 0 and self.epoch >= 0:
            self.epoch += 1
        return answer

    def acknowledge(
        self, *acks: tuple[int, ...], partition: int = 0, version: int = 2, **other: Any
    ) -> Plain:
        """ShareAcknowledge of one partition: ranges (first, last, types ...)."""
        fields: Plain = {
            "group_id": self.shared.group,
            "member_id": self.member_id,
            "share_session_epoch": self.epoch,
            "topics": [{"topic_id": self.shared.id, "partitions": [self.part(partition, *acks)]}],
        }
        answer = self.link.ask("ShareAcknowledge", version, **(fields | other))
        return self.took(answer) if "share_session_epoch" not in other else answer

    def name(self, *partitions: Plain, api: str = "ShareAcknowledge", **other: Any) -> Plain:
        """A request that names partitions as they are given, one of them maybe twice. They are told
        in the order of their numbers."""
        topics = [{"topic_id": self.shared.id, "partitions": list(partitions)}]
        fields = self.fields(**({"topics": topics} | other))
        if api == "ShareAcknowledge":
            known = ("group_id", "member_id", "share_session_epoch", "topics", "is_renew_ack")
            fields = {key: fields[key] for key in known if key in fields}
        return self.took(self.link.ask(api, 2, shuffled="responses", **fields))

    def close(self, *acks: tuple[int, ...]) -> Plain:
        """End the session."""
        self.epoch = -1
        return self.acknowledge(*acks)
