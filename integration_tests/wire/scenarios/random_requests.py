"""Requests of every kind with random fields: names that there are and are not, numbers at their
edges, nulls, lists of none, one and two.

Requests are made from the message tables, so that what nobody thought of is asked, too. Left out is
what would change a broker for everybody, what makes or deletes topics (a topic is known a moment
later), what waits, and what Kafka is known to fail at (`_PASSED_OVER`, by reason).
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from coordinator.wire.messages import API_KEYS, request_type
from coordinator.wire.schema import Field, Message, StructType
from integration_tests.wire import batches
from integration_tests.wire.people import ZERO_ID, topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.scenarios.random_frames import send_each
from integration_tests.wire.sharing import id_of, initialize
from integration_tests.wire.transacting import await_transactions

REQUESTS = 60
_LEFT_OUT: Final = frozenset(
    {
        "AddRaftVoter",  # may end Kafka's controller
        "DeleteTopics",
        "DescribeLogDirs",  # sizes on disk
        "DescribeQuorum",  # offsets of the metadata log
        "JoinGroup",
        "StreamsGroupDescribe",
        "StreamsGroupHeartbeat",
        "StreamsGroupTopologyDescriptionUpdate",
        "SyncGroup",
    }
)
_FIXED: Final = {
    "allow_auto_topic_creation": False,
    "include_documentation": False,
    "validate_only": True,
}
"""Nothing is changed for good, and Kafka's sentences are not ours."""
_INTEGERS: Final = (0, 0, 0, 1, 1, 2, 3, -1, -1, -2, 5, 100)
_BITS: Final = {"int8": 7, "int16": 15, "int32": 31, "int64": 63, "uint16": 16}
_CONFIGS: Final = ("retention.ms", "cleanup.policy", "nope", "", "consumer.session.timeout.ms")
_VALUES: Final = ("1", "-1", "delete", "x", "", "60000")
_ENTITIES: Final = ("user", "client-id", "ip", "nope")
_PASSING: Final = (14, 15, 16)
"""Codes of a coordinator that does not serve yet."""
_KINDS: Final = (2, 4, 8, 16, 32)
"""Types of configuration resources; Kafka takes all others for one."""
_STRANGER: Final = 987654321
"""An id that no producer was given: small ones are minted by both brokers, each for another."""
_RECENT_MS: Final = batches.TIMESTAMP_MS + 1_000_000
"""Later than any record's time stamp."""
_LISTS: Final = {
    "DescribeAcls": "resources",
    "DescribeClientQuotas": "entries",
    "DescribeUserScramCredentials": "results",
    "ListConfigResources": "config_resources",
    "ListGroups": "groups",
    "ListTransactions": "transaction_states",
}
"""Lists of what everybody has left on a broker: what is of this run is compared."""


Served = list[tuple[str, type[Message], range]]
"""APIs with their requests and versions."""


class Guess:
    """Sound and less sound values of fields, drawn."""

    def __init__(self, s: Session, rng: random.Random) -> None:
        self.rng = rng
        self.topic, self.group = topic(s, "t", 2), s.name("g")
        self.groups = (self.group, self.group, s.name("h"), "", s.name("nobody"))
        self.topics = (self.topic, self.topic, self.topic, s.name("nope"), "", s.name("a b"))
        self.ids = (s.name("x"), s.name("x"), s.name("y"), "")
        self.members = (s.name("m"), s.name("m"), s.name("n"), "")
        found = id_of(s, self.topic)
        s.names.topic_id(found)
        self.topic_ids = (found, found, "ab" * 16, ZERO_ID, "00" * 15 + "01")
        self.producer_id = _prepared(s, self.topic, self.ids)
        s.names.value("producer_id", self.producer_id)

    def request(self, apis: Served) -> tuple[str, int, Plain]:
        """API, version and fields of a request that Kafka can be asked beside others."""
        while True:
            api, cls, versions = self.rng.choice(apis)
            version = self.rng.choice(versions)
            fields = self.fields(cls, version)
            if not _passed_over(api, version, fields):
                return api, version, fields

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
                return "ab" * 16 if "directory" in name else self.rng.choice(self.topic_ids)
            case "float64":
                return self.rng.choice((0.0, 1.0, -1.0))
            case "records":
                return self.rng.choice(
                    (batches.batch(b"1"), batches.batch(b"1"), batches.batch(b"1", b"2"), "00")
                )
            case "binary":
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
        if name == "acks":
            return self.rng.choice((1, 1, -1, 2, -2))
        if "producer_id" in name:
            return self.rng.choice((self.producer_id, self.producer_id, _STRANGER, -1, -2))
        if "broker_id" in name and self.rng.random() < 0.8:
            return 1
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
        if name == "entity_type":
            return _ENTITIES
        return _VALUES if name == "value" else self.topics


def _prepared(s: Session, of_topic: str, transactional_ids: tuple[str, ...]) -> int:
    """A producer id, once the coordinators of transactions and of share groups serve: Kafka makes
    their topics when they are first asked for."""
    await_transactions(s, *transactional_ids)
    initialize(s, s.name("prepared"), of_topic, 0)
    states = [{"topic_id": id_of(s, of_topic), "partitions": [{"partition": 0, "leader_epoch": 0}]}]

    def loaded() -> bool:
        answers = [
            s.stage().ask_quietly("ReadShareGroupState", 0, group_id=str(i), topics=states)
            for i in range(60)
        ]
        return all(a["results"][0]["partitions"][0]["error_code"] not in _PASSING for a in answers)

    s.until(loaded, "there never were share coordinators")
    made = s.stage().ask_quietly(
        "InitProducerId", 4, transactional_id=None, transaction_timeout_ms=1
    )
    return int(made["producer_id"])


def _twice(keys: Iterable[Any]) -> bool:
    listed = list(keys)
    return len(set(listed)) < len(listed)


_PASSED_OVER: Final[dict[str, Callable[[int, Plain], bool]]] = {
    # Kafka never answers these (docs/divergences.md):
    "AddPartitionsToTxn": lambda version, asked: version >= 4 and not asked["transactions"],
    "AlterConfigs": lambda _, asked: _twice(
        (r["resource_type"] if r["resource_type"] in _KINDS else 0, r["resource_name"])
        for r in asked["resources"]
    ),
    "DescribeShareGroupOffsets": lambda _, asked: any(
        _twice(t["topic_name"] for t in g["topics"] or ())
        or any(i not in (0, 1) for t in g["topics"] or () for i in t["partitions"])
        for g in asked["groups"]
    ),
    "Produce": lambda _, asked: any(
        p["records"] is None for t in asked["topic_data"] for p in t["partition_data"]
    ),
    "WriteTxnMarkers": lambda _, asked: (
        any(
            _twice((t["name"], i) for t in m["topics"] for i in t["partition_indexes"])
            for m in asked["markers"]
        )
        or (
            len(asked["markers"]) > 1
            and not any(
                i in (0, 1)
                for t in asked["markers"][-1]["topics"]
                if t["name"].startswith("t-")
                for i in t["partition_indexes"]
            )
        )
    ),
    # Kafka keeps of it what makes a later request fail (the same page):
    "AlterShareGroupOffsets": lambda _, asked: any(
        p["partition_index"] < 0 for t in asked["topics"] for p in t["partitions"]
    ),
    # Kafka looks the host up (the same page):
    "AlterClientQuotas": lambda _, asked: any(
        e["entity_type"] == "ip" and e["entity_name"] for q in asked["entries"] for e in q["entity"]
    ),
    # Each would make a topic, or tell of everybody's:
    "DescribeTopicPartitions": lambda _, asked: not asked["topics"],
    "ElectLeaders": lambda _, asked: asked["topic_partitions"] is None,
    "Metadata": lambda version, asked: version < 4 or not asked["topics"],
    # Each would change the broker, or be told the cluster's id:
    "RemoveRaftVoter": lambda _, asked: asked["cluster_id"] is not None,
    "UnregisterBroker": lambda _, asked: bool(asked["broker_id"] == 1),
    "UnregisterController": lambda _, asked: bool(asked["controller_id"] == 1),
    "UpdateFeatures": lambda version, _: version < 1,  # cannot only validate
}
"""Requests that are not sent, by API: given the version and the fields."""


def _passed_over(api: str, version: int, fields: Plain) -> bool:
    return api in _PASSED_OVER and _PASSED_OVER[api](version, fields)


def _mine(s: Session) -> Callable[[str, Plain], Plain]:
    """An answer without what is everybody's, or each broker's own."""

    def mine(api: str, answer: Plain) -> Plain:
        if api == "ApiVersions":  # streams groups are not served
            features = answer.get("finalized_features", ())
            return answer | {
                "finalized_features": [f for f in features if f["name"] != "streams.version"]
            }
        if api == "ListOffsets":  # the time of a marker
            answer = _without_the_present(answer)
        listed = _LISTS.get(api)
        if listed is None or not answer[listed]:
            return answer
        return answer | {listed: [item for item in answer[listed] if s.nonce in str(item)]}

    return mine


def _without_the_present(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_the_present(of) for name, of in value.items()}
    if isinstance(value, list):
        return [_without_the_present(of) for of in value]
    return "now" if isinstance(value, int) and _RECENT_MS < value < 2 * _RECENT_MS else value


def _in_any_order(value: Any) -> Any:
    """Lists sorted by what they say: many of Kafka's come in the order of a hash table."""
    if isinstance(value, dict):
        return {name: _in_any_order(of) for name, of in value.items()}
    if isinstance(value, list):
        return sorted(map(_in_any_order, value), key=lambda of: json.dumps(of, sort_keys=True))
    return value


def _apis(s: Session) -> Served:
    """What the broker serves, in versions that we can write."""
    served = s.stage().ask_quietly(
        "ApiVersions", 3, client_software_name="raw", client_software_version="1"
    )["api_keys"]
    apis: Served = []
    for row in sorted(served, key=lambda row: int(row["api_key"])):
        api, cls = API_KEYS[row["api_key"]], request_type(row["api_key"])
        first, last = cls.versions
        versions = range(max(first, row["min_version"]), min(last, row["max_version"]) + 1)
        if api not in _LEFT_OUT:
            apis.append((api, cls, versions))
    return apis


def episode(seed: int) -> Callable[[Session], None]:
    """The scenario of one seed."""

    def play(s: Session) -> None:
        rng = random.Random(seed)
        guess, apis = Guess(s, rng), _apis(s)

        def requests() -> Iterator[tuple[str, int, bytes, Plain]]:
            for _ in range(REQUESTS):
                api, version, fields = guess.request(apis)
                body = s.codec.encode(api, version, fields)
                yield api, version, body, {"fields": s.names.value("", fields)}

        send_each(s, requests(), _in_any_order, _mine(s))

    play.__name__ = f"seed_{seed:03}"
    return play
