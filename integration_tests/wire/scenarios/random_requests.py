"""Requests of every kind with random fields: names that there are and are not, numbers at their
edges, nulls, lists of none, one and two.

Requests are made from the message tables, so that what nobody thought of is asked, too. Left out is
what would change a broker for everybody, what makes or deletes topics (a topic is known a moment
later), and what waits.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final

from coordinator.releases import NEWEST
from coordinator.wire.messages import API_KEYS, request_type
from coordinator.wire.schema import Field, Message, StructType
from integration_tests.wire.people import ZERO_ID, topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.scenarios.random_frames import send_each

REQUESTS = 60
_LEFT_OUT: Final = frozenset(
    {
        "AddRaftVoter",
        "AlterClientQuotas",
        "AlterPartitionReassignments",
        "AlterReplicaLogDirs",
        "AlterUserScramCredentials",
        "DeleteTopics",
        "DescribeLogDirs",
        "DescribeQuorum",
        "DescribeUserScramCredentials",
        "ElectLeaders",
        "JoinGroup",
        "ListConfigResources",
        "ListGroups",
        "ListTransactions",
        "Produce",
        "RemoveRaftVoter",
        "SaslAuthenticate",
        "SaslHandshake",
        "StreamsGroupDescribe",
        "StreamsGroupHeartbeat",
        "StreamsGroupTopologyDescriptionUpdate",
        "SyncGroup",
        "UnregisterBroker",
        "UnregisterController",
        "UpdateFeatures",
    }
)
_FIXED: Final = {"validate_only": True, "include_documentation": False}
"""Nothing is changed for good, and Kafka's sentences are not ours."""
_INTEGERS: Final = (0, 0, 0, 1, 1, 2, 3, -1, -1, -2, 5, 100)
_BITS: Final = {"int8": 7, "int16": 15, "int32": 31, "int64": 63, "uint16": 16}
_CONFIGS: Final = ("retention.ms", "cleanup.policy", "nope", "", "consumer.session.timeout.ms")
_VALUES: Final = ("1", "-1", "delete", "x", "", "60000")


class Guess:
    """Sound and less sound values of fields, drawn."""

    def __init__(self, s: Session, rng: random.Random) -> None:
        self.rng = rng
        self.topic, self.group = topic(s, "t", 2), s.name("g")
        self.groups = (self.group, self.group, s.name("h"), "", s.name("nobody"))
        self.topics = (self.topic, self.topic, self.topic, s.name("nope"), "", s.name("a b"))
        self.ids = (s.name("x"), s.name("x"), s.name("y"), "")
        self.members = ("m", "m", "n", "")

    def fields(self, cls: StructType, version: int) -> Plain:
        """Of a struct, by the names of its fields."""
        return {
            field.name: self.value(field, version, field.name)
            for field in cls.fields
            if field.carried(version) and (field.tag is None or self.rng.random() < 0.2)
        }

    def value(self, field: Field, version: int, name: str) -> Any:
        """Of a field; of a list's elements by the name of the list."""
        if version >= field.nullable and name != "topics" and self.rng.random() < 0.15:
            return None
        if name in _FIXED:
            return _FIXED[name]
        match field.kind:
            case "struct":
                assert isinstance(field.elem, StructType)
                return self.fields(field.elem, version)
            case "array":
                return [
                    self.fields(field.elem, version)
                    if isinstance(field.elem, StructType)
                    else self.value(field.elem, version, name)  # type: ignore[arg-type]
                    for _ in range(self.rng.choice((0, 1, 1, 1, 1, 2)))
                ]
            case "string":
                return self.rng.choice(self.texts(name))
            case "boolean":
                return self.rng.random() < 0.5
            case "uuid":
                return self.rng.choice(("ab" * 16, "ab" * 16, ZERO_ID, "00" * 15 + "01"))
            case "float64":
                return self.rng.choice((0.0, 1.0, -1.0))
            case "binary" | "records":
                return self.rng.choice(("", "00", "000000000000ffffffff"))
            case kind:
                return self.number(name, _BITS[kind])

    def number(self, name: str, bits: int) -> int:
        """An integer; nothing waits, and no broker's settings are meant."""
        if "wait" in name:
            return 0
        if "timeout_ms" in name:
            return 30_000
        if "resource_type" in name:
            return self.rng.choice((0, 2, 2, 3, 16, 32, 99))
        if self.rng.random() < 0.06:
            return self.rng.choice((2**bits - 1, 0 if bits == 16 else -(2**bits)))
        return self.rng.choice(_INTEGERS) if bits != 16 else self.rng.randrange(100)

    def texts(self, name: str) -> tuple[str, ...]:
        """By the name of the field, most of the time."""
        if self.rng.random() < 0.1:
            return (*self.groups, *self.topics, *self.ids, *self.members)
        if "transactional" in name:
            return self.ids
        if "group" in name or "coordinator_key" in name or name == "key":
            return self.groups
        if "member" in name or "instance" in name:
            return self.members
        if "config" in name:
            return _CONFIGS
        return _VALUES if name == "value" else self.topics


def _in_any_order(value: Any) -> Any:
    """Lists sorted by what they say: many of Kafka's come in the order of a hash table."""
    if isinstance(value, dict):
        return {name: _in_any_order(of) for name, of in value.items()}
    if isinstance(value, list):
        return sorted(map(_in_any_order, value), key=lambda of: json.dumps(of, sort_keys=True))
    return value


def _apis() -> list[tuple[str, type[Message], range]]:
    return [
        (API_KEYS[key], request_type(key), range(first, last + 1))
        for key, (first, last) in NEWEST.api_versions.items()
        if API_KEYS[key] not in _LEFT_OUT
    ]


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        rng = random.Random(seed)
        guess, apis = Guess(s, rng), _apis()

        def requests() -> Iterator[tuple[str, int, bytes, Plain]]:
            for _ in range(REQUESTS):
                api, cls, versions = rng.choice(apis)
                version = rng.choice(versions)
                fields = guess.fields(cls, version)
                body = s.codec.encode(api, version, fields)
                yield api, version, body, {"fields": s.names.value("", fields)}

        send_each(s, requests(), _in_any_order)

    play.__name__ = f"seed_{seed:03}"
    return play
