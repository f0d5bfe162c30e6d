"""Members of the consumer protocol (KIP-848) for scenarios: they know their epoch and what they
were given."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session

API = "ConsumerGroupHeartbeat"


def topics(s: Session, *sizes: int) -> list[str]:
    """Topics t0, t1, ... of so many partitions each; their ids are named T1, T2, ... from now
    on."""
    names = [topic(s, f"t{i}", size) for i, size in enumerate(sizes)]
    for name in names:
        s.names.topic_id(topic_id(s, name))
    await_coordinators(s, names[-1])
    return names


def await_coordinators(s: Session, name: str) -> None:
    """Wait until the broker's group coordinators know a topic that its metadata shows.

    A broker takes in the controller's changes one by one: each goes to what answers Metadata, then
    to the coordinators' queues. Whoever joins between the two is given nothing. Once a later change
    (here of the topic's configuration) is to be seen, the coordinators have the one before it.
    """
    link, (key, value) = s.stage(), ("preallocate", "false")
    change = {"name": key, "config_operation": 0, "value": value}
    changed = {"resource_type": 2, "resource_name": name, "configs": [change]}
    link.ask_quietly("IncrementalAlterConfigs", 1, resources=[changed], validate_only=False)

    def seen() -> bool:
        asked = {"resource_type": 2, "resource_name": name, "configuration_keys": [key]}
        answer = link.ask_quietly(
            "DescribeConfigs",
            4,
            resources=[asked],
            include_synonyms=False,
            include_documentation=False,
        )
        return any(entry["config_source"] == 1 for entry in answer["results"][0]["configs"])

    link.session.until(seen, f"{name} never had its {key}")


class Consumer:
    """A member on its own connection. `owned` is what it reports to have, by topic id, in
    hexadecimal."""

    def __init__(
        self,
        s: Session,
        label: str,
        group: str,
        *,
        version: int = 1,
        instance: str | None = None,
        member_id: str | None = None,
        link: Link | None = None,
        **join: Any,
    ) -> None:
        self.link: Link = link or s.connect(label, client_id=label)
        self.group = group
        self.version = version
        self.instance = instance
        self.member_id = f"member-{label}" if member_id is None else member_id
        self.epoch = 0
        self.given: dict[str, list[int]] = {}
        self.join_fields: Plain = {"rebalance_timeout_ms": 60_000, "topic_partitions": [], **join}

    def join(self, *names: str, **other: Any) -> Plain:
        """Join, or join again, with epoch 0."""
        self.epoch = 0
        by_regex = not names and "subscribed_topic_regex" in {**self.join_fields, **other}
        subscribes: Plain = {} if by_regex else {"subscribed_topic_names": list(names)}
        return self.beat(**{**self.join_fields, **subscribes, **other})

    def beat(self, **other: Any) -> Plain:
        """A heartbeat that says nothing but what is given; learns from the answer."""
        fields: Plain = {
            "group_id": self.group,
            "member_id": self.member_id,
            "member_epoch": self.epoch,
            "instance_id": self.instance,
        }
        answer = self.link.ask(API, self.version, **(fields | other))
        if answer["error_code"] == 0:
            self.member_id = answer["member_id"]
            self.epoch = answer["member_epoch"]
            if answer["assignment"] is not None:
                self.given = {
                    of["topic_id"]: of["partitions"]
                    for of in answer["assignment"]["topic_partitions"]
                }
        return answer

    def ack(self, **other: Any) -> Plain:
        """A heartbeat that reports to own exactly what was given last."""
        return self.beat(topic_partitions=self.listed(), **other)

    def listed(self) -> list[Plain]:
        """What was given last, as a request lists it."""
        return [{"topic_id": t, "partitions": p} for t, p in self.given.items()]

    def leave(self, epoch: int = -1, **other: Any) -> Plain:
        """Leave for good, or for a while with epoch -2."""
        return self.beat(**{"member_epoch": epoch, **other})

    def commit(
        self,
        name: str,
        partition: int = 0,
        *,
        epoch: int | None = None,
        version: int = 9,
        **other: Any,
    ) -> Plain:
        """Commit offset 1 of one partition under an epoch."""
        listed = [{"partition_index": partition, "committed_offset": 1}]
        fields: Plain = {
            "group_id": self.group,
            "generation_id_or_member_epoch": self.epoch if epoch is None else epoch,
            "member_id": self.member_id,
            "group_instance_id": self.instance,
            "topics": [{"name": name, "partitions": listed}],
        }
        return self.link.ask("OffsetCommit", version, **(fields | other))

    def fetch(self, name: str, *, version: int = 9, **other: Any) -> Plain:
        """Fetch one partition's offset with this member's identity."""
        asked: Plain = {
            "group_id": self.group,
            "member_id": self.member_id,
            "member_epoch": self.epoch,
            "topics": [{"name": name, "partition_indexes": [0]}],
        }
        return self.link.ask("OffsetFetch", version, groups=[asked | other], require_stable=False)


def describe(link: Link, group: str, version: int = 1) -> Plain:
    """ConsumerGroupDescribe of one group."""
    return link.ask("ConsumerGroupDescribe", version, group_ids=[group])
