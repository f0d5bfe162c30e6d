"""Dead letters of share groups (KIP-1191): which records are copied, where to, and how (SH-DLQ-*)."""

from __future__ import annotations

from typing import Any

from integration_tests.wire import batches
from integration_tests.wire.people import await_topic, topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.compressed_batches import CODECS, sealed
from integration_tests.wire.scenarios.configs import BROKER, TOPIC, describe, settle_value
from integration_tests.wire.sharing import ACCEPT, PROFILE, REJECT, RELEASE, Shared, configure

_TOPIC, _COPY = "errors.deadletterqueue.topic.name", "errors.deadletterqueue.copy.record.enable"
_LIMIT_2 = {"share.delivery.count.limit": "2"}
_ARCHIVING = 3


def letters_topic(s: Session, partitions: int = 1, **configs: str) -> str:
    """A topic that takes dead letters."""
    of = {"errors_deadletterqueue_group_enable": "true", **configs}
    return topic(s, "dlq.t", partitions, **of)


def letters(s: Session, name: str, count: int, partition: int = 0, batched: bool = False) -> None:
    """Wait for so many dead letters, and tell each."""

    def fetched() -> list[Plain]:
        answer = s.stage().ask_quietly(
            "Fetch",
            11,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=1 << 20,
            topics=[
                {
                    "topic": name,
                    "partitions": [
                        {"partition": partition, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
                    ],
                }
            ],
        )
        return batches.records(answer["responses"][0]["partitions"][0]["records"])

    s.until(lambda: len(fetched()) >= count, f"there never were {count} dead letters")
    found = fetched()
    if not batched:  # Kafka writes what has piled up by then, in whatever order it comes
        found.sort(key=lambda letter: str(letter["headers"]))
        for letter in found:
            del letter["batch"], letter["offset"]
    for letter in found:
        s.say("letter", {"partition": partition, **letter})


def settled(shared: Shared, count: int) -> None:
    """Wait until no record is on its way to the dead letters, and show which of the first `count`
    are done with. (How they are stored depends on when each came back from there.)"""
    done: list[bool] = []

    def none_on_its_way() -> bool:
        nonlocal done
        answer = shared.s.stage().ask_quietly(
            "ReadShareGroupState",
            0,
            group_id=shared.group,
            topics=[{"topic_id": shared.id, "partitions": [{"partition": 0, "leader_epoch": 0}]}],
        )
        stored = answer["results"][0]["partitions"][0]
        done = [offset < stored["start_offset"] for offset in range(count)]
        for of in stored["state_batches"]:
            for offset in range(of["first_offset"], of["last_offset"] + 1):
                done[offset] = of["delivery_state"] in (2, 4)
        return all(of["delivery_state"] != _ARCHIVING for of in stored["state_batches"])

    shared.s.until(none_on_its_way, "the dead letters were never written")
    shared.s.say("done", done)


@scenario(PROFILE, since="4.4")
def rejected_records(s: Session) -> None:
    """Each has its dead letter, which says where it was; what is accepted has none."""
    name = letters_topic(s)
    shared = Shared(s, 4, 2, settings={_TOPIC: name})
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 0, REJECT), (1, 2, ACCEPT), (3, 4, REJECT))
    letters(s, name, 3)
    settled(shared, 6)
    a.fetch(acks=((5, 5, REJECT),))
    letters(s, name, 4)
    settled(shared, 6)


@scenario(PROFILE, since="4.4")
def released_too_often(s: Session) -> None:
    """The last release that is allowed makes a dead letter; its session's end does as well."""
    name = letters_topic(s)
    shared = Shared(s, 3, 1, settings={_TOPIC: name, **_LIMIT_2})
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 3, RELEASE))
    a.fetch()
    a.acknowledge((0, 1, RELEASE))
    letters(s, name, 2)
    a.fetch()
    a.close()
    letters(s, name, 4)
    settled(shared, 4)


@scenario(PROFILE, since="4.4")
def locks_that_end_for_the_last_time(s: Session) -> None:
    """A lock that ends after the last delivery."""
    name = letters_topic(s)
    shared = Shared(
        s, 2, settings={_TOPIC: name, "share.record.lock.duration.ms": "1000", **_LIMIT_2}
    )
    a = shared.sharer()
    a.begin(0)
    a.fetch(max_wait_ms=10_000)
    letters(s, name, 2)
    settled(shared, 2)


@scenario(PROFILE, since="4.4")
def gaps_are_no_letters(s: Session) -> None:
    """What a member says is not there is not copied."""
    name = letters_topic(s)
    shared = Shared(s, 3, settings={_TOPIC: name})
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 2, 0, REJECT, ACCEPT))
    letters(s, name, 1)
    settled(shared, 3)


@scenario(PROFILE, since="4.4")
def whole_records(s: Session) -> None:
    """With errors.deadletterqueue.copy.record.enable key and value are copied, not the headers; of
    compressed batches too."""
    name = letters_topic(s)
    shared = Shared(s, settings={_TOPIC: name, _COPY: "true"})
    shared.produce(2, key=b"k")
    codec = batches.COMPRESSIONS["gzip"]
    data = sealed(codec, CODECS["gzip"](batches.record(b"one", 0, 5, b"key")), 1)
    _produce(s, shared, data)
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 2, REJECT))
    letters(s, name, 3)


@scenario(PROFILE, since="4.4")
def partitions_of_letters(s: Session) -> None:
    """A dead letter goes to the partition that its record's number leaves by division."""
    name = letters_topic(s, 2)
    shared = Shared(s, 1, partitions=3, settings={_TOPIC: name})
    shared.produce(1, partition=1)
    shared.produce(1, partition=2)
    a = shared.sharer()
    a.begin(0)
    for partition in (1, 2):
        a.fetch(partition, max_wait_ms=10_000)
    for partition in range(3):
        a.acknowledge((0, 0, REJECT), partition=partition)
        letters(s, name, 1 + partition // 2, partition % 2)


@scenario(PROFILE, since="4.4")
def letters_that_cannot_be_written(s: Session) -> None:
    """A topic that is missing or does not take dead letters: the records are archived."""
    plain = topic(s, "dlq.plain")
    other = topic(s, "other", errors_deadletterqueue_group_enable="true")
    shared = Shared(s, 4)
    a = shared.sharer()
    a.begin(0)
    for offset, name in enumerate((plain, other, s.name("dlq.none"))):
        configure(s, shared.group, {_TOPIC: name})
        s.until(lambda name=name: _goes_by(shared, name), "the name was never set")  # type: ignore[misc]
        a.acknowledge((offset, offset, REJECT))
        settled(shared, 4)
    for name in (plain, other):
        letters(s, name, 0)


@scenario(PROFILE, since="4.4")
def small_batches_of_letters(s: Session) -> None:
    """No batch of dead letters is larger than their topic takes."""
    name = letters_topic(s, max_message_bytes="700")
    shared = Shared(s, 12, settings={_TOPIC: name})
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 11, REJECT))
    letters(s, name, 12, batched=True)
    settled(shared, 12)


@scenario(PROFILE, since="4.4")
def letters_too_large(s: Session) -> None:
    """A dead letter that is larger than its topic takes: refused, and the record archived."""
    name = letters_topic(s, max_message_bytes="100")
    shared = Shared(s, 2, settings={_TOPIC: name})
    a = shared.sharer()
    a.begin(0)
    a.acknowledge((0, 0, REJECT))
    settled(shared, 2)
    letters(s, name, 0)


@scenario(PROFILE, since="4.4", alone=True)
def topics_made_for_letters(s: Session) -> None:
    """With errors.deadletterqueue.auto.create.topics.enable a missing topic is made."""
    made, link = s.name("dlq.made"), s.stage()
    shared = Shared(s, 2, settings={_TOPIC: made})
    a = shared.sharer()
    a.begin(0)
    _create_topics(s, "true")
    a.acknowledge((0, 0, REJECT))
    settled(shared, 2)
    letters(s, made, 1)
    shown = await_topic(link, made, 1)
    s.say("partitions", len(shown["partitions"]))
    for config in ("errors.deadletterqueue.group.enable", "message.timestamp.type"):
        describe(link, TOPIC, made, config)
    _create_topics(s, "false")


def _create_topics(s: Session, value: str) -> None:
    """Set the brokers' errors.deadletterqueue.auto.create.topics.enable."""
    name = "errors.deadletterqueue.auto.create.topics.enable"
    change = {"name": name, "config_operation": 0, "value": value}
    s.stage().ask_quietly(
        "IncrementalAlterConfigs",
        1,
        resources=[{"resource_type": BROKER, "resource_name": "", "configs": [change]}],
    )
    settle_value(s.stage(), BROKER, "", name, value)


def _goes_by(shared: Shared, name: str) -> bool:
    answer = shared.s.stage().ask_quietly(
        "DescribeConfigs",
        4,
        resources=[
            {"resource_type": 32, "resource_name": shared.group, "configuration_keys": [_TOPIC]}
        ],
    )
    return bool(answer["results"][0]["configs"][0]["value"] == name)


def _produce(s: Session, shared: Shared, data: str) -> None:
    of: dict[str, Any] = {"index": 0, "records": data}
    s.stage().ask_quietly(
        "Produce",
        9,
        acks=-1,
        timeout_ms=5_000,
        topic_data=[{"name": shared.topic, "partition_data": [of]}],
    )
