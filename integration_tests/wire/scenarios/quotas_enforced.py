"""Client quotas as clients feel them: how long an answer tells them to wait, and that nothing is read
meanwhile.

What is first measured of a client is exact to the millisecond: each client id here is used once.
"""

from __future__ import annotations

import itertools
import time
from typing import Any

from integration_tests.wire.batches import batch
from integration_tests.wire.people import topic, topic_id
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.fetch import fill, wanted
from integration_tests.wire.scenarios.quotas import Named, quota, settle_quotas

ME = "ANONYMOUS"
_MARKS = itertools.count()


def limit(s: Session, *entries: Plain) -> None:
    """Set quotas, and wait until they hold: until one that was set after they were seen makes its
    client wait."""
    number = next(_MARKS)
    mark = quota(("client-id", s.name(f"mark{number}")), request_percentage=0.0001)
    for each in (list(entries), [mark]):
        answer = s.stage().ask_quietly("AlterClientQuotas", 1, entries=each, validate_only=False)
        assert not any(each["error_code"] for each in answer["entries"]), answer
        settle_quotas(s.stage())
    asking = s.connect(f"mark{number}", s.name(f"mark{number}"))
    s.until(lambda: bool(heartbeat(asking)["throttle_time_ms"]), "quotas do not hold")


def heartbeat(link: Link) -> Plain:
    """A request that is answered at once."""
    return link.ask_quietly("Heartbeat", 4, group_id="", member_id="", generation_id=1)


def told(link: Link, label: str, answer: Plain) -> int:
    """Say how long an answer makes its client wait."""
    waits: int = answer["throttle_time_ms"]
    link.session.say(label, {"throttle_time_ms": waits})
    return waits


def then_muted(link: Link, waits: int, sent: float) -> None:
    """The next request is read when the time is over, and its answer has nothing to say."""
    answer = heartbeat(link)
    took_ms = (time.monotonic() - sent) * 1000
    link.session.say("the next answer", {"throttle_time_ms": answer["throttle_time_ms"]})
    link.session.say("the next answer comes after the wait", took_ms >= waits)


def produce(link: Link, topic: str, size: int, *, acks: int = 1) -> Plain:
    """Produce a record of so many bytes."""
    data = [{"name": topic, "partition_data": [{"index": 0, "records": batch(b"x" * size)}]}]
    return link.ask_quietly(
        "Produce", 12, transactional_id=None, acks=acks, timeout_ms=5000, topic_data=data
    )


def fetch(link: Link, *topics: Plain, session: tuple[int, int] = (0, -1), **other: Any) -> Plain:
    """Fetch without waiting."""
    fields: Plain = {
        "max_wait_ms": 0,
        "min_bytes": 1,
        "max_bytes": 1 << 20,
        "isolation_level": 0,
        "topics": list(topics),
        "session_id": session[0],
        "session_epoch": session[1],
        "forgotten_topics_data": [],
    }
    return link.ask_quietly("Fetch", 17, **(fields | other))


@scenario()
def producers_wait(s: Session) -> None:
    """QUO-1, QUO-2: the whole request's bytes count; what is over tells its client, and mutes its
    connection, no other."""
    client = s.name("p")
    name = topic(s, "t")
    limit(s, quota(("client-id", client), producer_byte_rate=1000))
    a, other = s.connect("a", client), s.connect("other", client)
    started = time.monotonic()
    waits = told(a, "produce", produce(a, name, 11_000))
    answer = heartbeat(other)
    s.say("another connection", {"throttle_time_ms": answer["throttle_time_ms"]})
    then_muted(a, waits, started)


@scenario()
def the_nearest_quota_counts(s: Session) -> None:
    """QUO-3: of a user with a client id, of a user, of a client id; a nameless client has none of a
    client id."""
    name = topic(s, "t")
    cases: dict[str, list[tuple[str, float]]] = {
        "both": [("client-id", 2000), ("user and client-id", 4000)],
        "default user": [("client-id", 2000), ("default user and client-id", 4000)],
        "both users": [("user and client-id", 4000), ("default user and client-id", 2000)],
        "client": [("client-id", 2000)],
        "freed": [("client-id", 2000), ("user and client-id", 1e9)],
    }
    for label, whose in cases.items():
        client = s.name(label.replace(" ", "_"))
        entities: dict[str, list[Named]] = {
            "client-id": [("client-id", client)],
            "user and client-id": [("user", ME), ("client-id", client)],
            "default user and client-id": [("user", None), ("client-id", client)],
        }
        limit(s, *(quota(*entities[kind], producer_byte_rate=rate) for kind, rate in whose))
        link = s.connect(label, client)
        told(link, label, produce(link, name, 50_000))


@scenario()
def consumers_wait(s: Session) -> None:
    """QUO-1: a fetch that is over comes back empty, and is not counted: a small one is free
    afterwards, whenever it comes. Its session is not begun. What would never be allowed is not
    read."""
    name = topic(s, "t")
    fill(s, name, *[batch(b"x" * 3000)] * 4, batch(b"small"))
    asked, small = (wanted(topic_id(s, name), offset, version=17) for offset in (0, 4))
    for label, rate, whole in (("far", 100, False), ("near", 305, False), ("session", 305, True)):
        client = s.name(label)
        limit(s, quota(("client-id", client), consumer_byte_rate=rate))
        link = s.connect(label, client)
        started = time.monotonic()
        answer = fetch(link, asked, session=(0, 0 if whole else -1))
        waits = told(link, label, answer)
        s.say(label, {"responses": answer["responses"], "session": answer["session_id"]})
        if waits < 1000:
            then_muted(link, waits, started)
            answer = fetch(link, small)
            sizes = [
                len(partition["records"]) // 2
                for each in answer["responses"]
                for partition in each["partitions"]
            ]
            s.say(f"{label}: later", {"throttle": answer["throttle_time_ms"], "sizes": sizes})


@scenario()
def changes_of_topics_wait(s: Session) -> None:
    """QUO-4: a burst is done, and who asks in a version that knows no quota waits after it; who
    knows it is refused (89)."""
    stage = s.stage()

    def create(link: Link, label: str, partitions: int, version: int, **other: Any) -> Plain:
        made = {
            "name": s.name(label),
            "num_partitions": partitions,
            "replication_factor": 1,
            "assignments": [],
            "configs": [],
        }
        answer = link.ask_quietly(
            "CreateTopics",
            version,
            **({"topics": [made], "timeout_ms": 20_000, "validate_only": False} | other),
        )
        [one] = answer["topics"]
        s.say(label, {"error": one["error_code"], "message": one["error_message"]})
        return answer

    limit(s, quota(("client-id", s.name("old")), controller_mutation_rate=2))
    old = s.connect("old", s.name("old"))
    started = time.monotonic()
    waits = create(old, "a", 24, 5)["throttle_time_ms"]
    s.say("old", 0 < waits <= 1000)
    then_muted(old, waits, started)
    for label, validated in (("new", False), ("validated", True)):
        limit(s, quota(("client-id", s.name(label)), controller_mutation_rate=0.5))
        link = s.connect(label, s.name(label))
        answer = create(link, f"{label}_b", 20, 7, validate_only=validated)
        s.say("over", {"throttle_time_ms": answer["throttle_time_ms"]})
        answer = create(link, f"{label}_c", 1, 7)
        s.say("refused waits", answer["throttle_time_ms"] > 5_000)
        other = s.connect(f"{label} other", s.name(label))
        answer = create(other, f"{label}_b" if not validated else f"{label}_d", 1, 7)
        s.say("another connection waits", answer["throttle_time_ms"] > 5_000)
        if not validated:
            deleting = s.connect("deleting", s.name(label))
            answer = deleting.ask_quietly(
                "DeleteTopics",
                6,
                topics=[{"name": s.name("new_b"), "topic_id": "0" * 32}],
                timeout_ms=20_000,
            )
            [one] = answer["responses"]
            s.say("delete", {"error": one["error_code"], "message": one["error_message"]})
            s.say("delete waits", answer["throttle_time_ms"] > 5_000)
            growing = s.connect("growing", s.name(label))
            answer = growing.ask_quietly(
                "CreatePartitions",
                3,
                topics=[{"name": s.name("new_b"), "count": 25, "assignments": None}],
                timeout_ms=20_000,
                validate_only=True,
            )
            [one] = answer["results"]
            s.say("grow", {"error": one["error_code"], "message": one["error_message"]})
            s.say("grow waits", answer["throttle_time_ms"] > 5_000)
            asking = s.connect("asking", s.name(label))
            answer = asking.ask_quietly(
                "Metadata",
                12,
                topics=[{"name": s.name("automatic"), "topic_id": "0" * 32}],
                allow_auto_topic_creation=True,
            )
            s.say("asked about", {"throttle_time_ms": answer["throttle_time_ms"]})
            answer = stage.ask_quietly(
                "Metadata",
                12,
                topics=[{"name": s.name("automatic"), "topic_id": "0" * 32}],
                allow_auto_topic_creation=False,
            )
            s.say("made", answer["topics"][0]["error_code"] == 0)


@scenario()
def requests_wait(s: Session) -> None:
    """QUO-2: request_percentage makes a client wait for a second at most, whatever it asks."""
    client = s.name("r")
    limit(s, quota(("client-id", client), request_percentage=0.0001))
    name = topic(s, "t")
    for api, version, fields in (
        ("Heartbeat", 4, {"group_id": "", "member_id": "", "generation_id": 1}),
        ("FindCoordinator", 4, {"key_type": 0, "coordinator_keys": ["g"]}),
        ("Metadata", 12, {"topics": []}),
        ("ApiVersions", 3, {"client_software_name": "a", "client_software_version": "1"}),
    ):
        link = s.connect(api, client)
        told(link, api, link.ask_quietly(api, version, **fields))
    link = s.connect("producing", client)
    told(link, "Produce", produce(link, name, 10))
    link = s.connect("fetching", client)
    answer = fetch(link, wanted(topic_id(s, name), 0, version=17))
    s.say("Fetch", {key: answer[key] for key in ("throttle_time_ms", "responses")})
