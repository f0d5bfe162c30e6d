"""What came with Kafka 4.4: newer versions of requests, new requests, limits of decoding, settings
of groups (V44-*, CFG-44-*)."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.batches import COMPRESSIONS, record
from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.people import Member, assignment, protocols, stable, subscription, topic
from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.compressed_batches import CODECS, sealed
from integration_tests.wire.scenarios.configs import settle_value
from integration_tests.wire.scenarios.group_features import UNSAFE_DOWNGRADE, level
from integration_tests.wire.scenarios.hostile import framed, header
from integration_tests.wire.scenarios.produce import produce
from integration_tests.wire.scenarios.transactions import committed
from integration_tests.wire.transacting import Transactor

GROUP = 32
TAGS = 10_000
ELEMENTS = 1_000_000


@scenario(since="4.4")
def the_cluster_that_a_client_means(s: Session) -> None:
    """V44-4: ApiVersions v5 names neither cluster nor node, or both; of another one it is told to
    bootstrap again."""
    a = s.connect()
    cluster = a.ask_quietly("DescribeCluster", 2)["cluster_id"]
    for label, told in (
        ("neither", {}),
        ("this", {"cluster_id": cluster, "node_id": 1}),
        ("no node", {"cluster_id": cluster}),
        ("no cluster", {"node_id": 1}),
        ("another cluster", {"cluster_id": "x", "node_id": 1}),
        ("no name", {"cluster_id": "", "node_id": 1}),
        ("another node", {"cluster_id": cluster, "node_id": 2}),
        ("below -1", {"cluster_id": cluster, "node_id": -2}),
        ("bad name", {"cluster_id": "x", "node_id": 1, "client_software_name": "-"}),
    ):
        software = {"client_software_name": "raw", "client_software_version": "1"}
        answer = a.ask_quietly("ApiVersions", 5, **(software | told))
        s.say(
            label,
            [
                answer["error_code"],
                bool(answer["api_keys"]),
                len(answer.get("supported_features", ())),
            ],
        )


@scenario("consumer")
def offsets_by_topic_id(s: Session) -> None:
    """V44-5: TxnOffsetCommit v6 names topics by id; it tells groups that do not exist and epochs
    that are wrong by codes of their own."""
    a = s.connect()
    t, other = topics(s, 3, 1)
    tx, group = Transactor(s, a), s.name("g")
    ids = [
        found["topic_id"]
        for found in a.ask_quietly(
            "Metadata", 12, topics=[{"name": t}, {"name": other}], allow_auto_topic_creation=False
        )["topics"]
    ]
    tx.init(5)

    def commit(group: str, *rows: tuple[str, int], version: int = 6, **who: Any) -> None:
        by_topic: dict[str, list[Plain]] = {}
        for topic_id, partition in rows or ((ids[0], 0),):
            by_topic.setdefault(topic_id, []).append(
                {"partition_index": partition, "committed_offset": 5, "committed_metadata": "m"}
            )
        named = [
            ({"topic_id": one} if version >= 6 else {"name": t}) | {"partitions": partitions}
            for one, partitions in by_topic.items()
        ]
        a.ask("TxnOffsetCommit", version, **tx.fields(group_id=group, topics=named, **who))

    for version in (5, 6):
        commit(s.name("nobody"), version=version, generation_id_or_member_epoch=0, member_id="x")
        commit(s.name("nobody"), version=version, generation_id_or_member_epoch=3, member_id="x")
    commit(group, (ids[0], 0), (ids[1], 0), (ids[0], 9), ("ab" * 16, 0), ("0" * 32, 1))
    commit(group, ("ab" * 16, 0))
    commit("", (ids[0], 0))
    one = Consumer(s, "one", s.name("consumers"))
    one.join(t)
    two = Consumer(s, "two", one.group)
    two.join(t)
    one.ack()
    two.beat()
    for version in (5, 6):
        for epoch, member in (
            (one.epoch, one.member_id),
            (2, one.member_id),
            (1, one.member_id),
            (9, one.member_id),
            (-1, one.member_id),
            (one.epoch, "stranger"),
            (-1, ""),
        ):
            commit(
                one.group,
                version=version,
                generation_id_or_member_epoch=epoch,
                member_id=member,
            )
    classic = stable(s, s.name("peopled"), "m")[0]
    for generation, member in (
        (1, classic.member_id),
        (2, classic.member_id),
        (1, "stranger"),
        (-1, ""),
    ):
        commit(classic.group, generation_id_or_member_epoch=generation, member_id=member)
    tx.end(commit=True)
    committed(a, group, t)


@scenario("consumer")
def deleted_groups_are_told_about(s: Session) -> None:
    """V44-6: DeleteGroups v3 has a text for each group; there is none to tell."""
    a = s.connect()
    (t,) = topics(s, 1)
    one = Consumer(s, "one", s.name("g"))
    one.join(t)
    a.ask("DeleteGroups", 3, groups_names=[one.group])
    one.leave()
    a.ask("DeleteGroups", 3, groups_names=[one.group, one.group])
    a.ask("DeleteGroups", 3, groups_names=[s.name("nobody")])
    a.ask("DeleteGroups", 3, groups_names=[""])


@scenario()
def controllers_unregistered(s: Session) -> None:
    """The active controller stays (42); who is not registered is told so (136)."""
    a = s.connect()
    for node in (1, 2, -1):
        a.ask("UnregisterController", 0, controller_id=node)


@scenario("features_off", alone=True)
def streams_groups_of_the_next_version(s: Session) -> None:
    """With streams.version 0 the newer requests of streams groups are refused (35)."""
    level(s.stage(), "streams.version", 0, UNSAFE_DOWNGRADE, quietly=True)
    s.wait(1_500)
    a, group = s.connect(), s.name("g")
    a.ask("StreamsGroupHeartbeat", 1, group_id=group, member_id="m", member_epoch=0)
    a.ask("StreamsGroupDescribe", 1, group_ids=[group, ""], include_topology_description=True)
    a.ask(
        "StreamsGroupTopologyDescriptionUpdate",
        0,
        group_id=group,
        member_id="m",
        topology_epoch=0,
        topology_description={"subtopologies": [], "global_stores": []},
    )


@scenario(since="4.4")
def limits_of_decoding(s: Session) -> None:
    """V44-7: more than 1,000,000 elements, or more than 10,000 tagged fields in a section, or a
    negative number of them, close the connection."""
    link = s.connect("elements")
    times = (1).to_bytes(4, "big") * 2  # too short: refused at once, once it is read
    protocols = _uvarint(ELEMENTS + 2) + b"\x01\x01\x00" * (ELEMENTS + 1)
    body = b"\x02g" + times + b"\x01\x00\x01" + protocols + b"\x00"
    link.send_bytes(framed(header(11, 6, True), body), "an element more")
    link.ends(30_000)
    for label, count in (("tags", TAGS), ("a tag more", TAGS + 1)):
        link = s.connect(label)
        tags = b"".join(_uvarint(100 + tag) + b"\x00" for tag in range(count))
        software = b"\x02a\x022"
        link.send_bytes(framed(header(18, 3, True), software, _uvarint(count), tags), label)
        link.ends()
    link = s.connect("minus one tag")
    link.send_bytes(framed(header(60, 1, True), b"\x00\x01", _uvarint(2**32 - 1), b"\x00"), "-1")
    link.ends()


def _uvarint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out) + bytes((value,))


@scenario()
def settings_of_groups(s: Session) -> None:
    """CFG-44-2..4: bounds, values that are none, settings that are shown only where they are set."""
    a, group = s.connect(), s.name("g")

    accepted: list[tuple[str, str]] = []

    def alter(name: str, value: str) -> None:
        change = {"name": name, "config_operation": 0, "value": value}
        answer = a.ask(
            "IncrementalAlterConfigs",
            1,
            resources=[{"resource_type": GROUP, "resource_name": group, "configs": [change]}],
        )
        if answer["responses"][0]["error_code"] == 0:
            accepted.append((name, value))

    def configs() -> list[Plain]:
        found: list[Plain] = a.ask_quietly(
            "DescribeConfigs",
            4,
            resources=[
                {"resource_type": GROUP, "resource_name": group, "configuration_keys": None}
            ],
            include_synonyms=True,
        )["results"][0]["configs"]
        return sorted(found, key=lambda entry: str(entry["name"]))

    def followed() -> bool:
        """The broker follows the controller, in order, so the last change shows that all did."""
        return accepted[-1] in [(entry["name"], entry["value"]) for entry in configs()]

    s.say("configs", configs())
    for name, *values in (
        ("consumer.session.timeout.ms", "2000", "0", "60001", "x"),
        ("share.heartbeat.interval.ms", "4999", "15001"),
        ("share.record.lock.duration.ms", "14999", "70000", "999"),
        ("share.delivery.count.limit", "1", "11"),
        ("share.partition.max.record.locks", "99", "4001"),
        ("share.auto.offset.reset", "x", "by_duration:P", "by_duration:-PT1S", "by_duration:PT1S"),
        ("streams.session.timeout.ms", "1"),
        ("streams.num.standby.replicas", "3", "-1", "1"),
        ("streams.num.warmup.replicas", "21", "3"),
        ("streams.acceptable.recovery.lag", "-1", "5"),
        ("streams.task.offset.interval.ms", "14999", "15000"),
        ("streams.assignor.name", "nope", "", "sticky"),
        ("streams.rack.aware.assignment.tags", "a,a", "a,,b", "a,b"),
        ("consumer.assignor.offload.enable", "x", "false"),
        ("errors.deadletterqueue.topic.name", "__x", "a b"),
        ("errors.deadletterqueue.copy.record.enable", "x", "true"),
        ("nope", "1"),
    ):
        for value in values:
            alter(name, value)
    s.until(followed, f"{accepted[-1]} was never to be seen")
    s.say("configs", configs())


@scenario(since="4.2")
def many_partitions_at_once(s: Session) -> None:
    """PART-44-1: no more than 10,000 partitions are added by a request, whatever their topics."""
    a = s.connect()
    one, two = topic(s, "one"), topic(s, "two")
    for asked in (
        ((one, 10_001),),
        ((one, 10_002),),
        ((one, 6_000), (two, 6_000)),
        ((one, 20_000), (two, 1), (s.name("nope"), 3)),
        ((s.name("nope"), 20_000),),
    ):
        a.ask(
            "CreatePartitions",
            3,
            shuffled="results",
            topics=[{"name": name, "count": count, "assignments": None} for name, count in asked],
            timeout_ms=30_000,
            validate_only=True,
        )


@scenario(since="4.4")
def sizes_of_compressed_records(s: Session) -> None:
    """REC-44-1: a record that comes out of a compressed batch is no larger than
    max.decompressed.message.bytes."""
    a = s.connect()
    for label, compress in CODECS.items():
        name = topic(s, label, max_decompressed_message_bytes="20")
        codec = COMPRESSIONS[label]
        for size in (1, 12, 13, 14, 40):
            s.say("value", size)
            produce(a, name, sealed(codec, compress(record(b"v" * size, 0, 0)), 1))


@scenario("consumer")
def an_upgrade_of_malformed_members(s: Session) -> None:
    """K8-MIG-44-4: a classic group whose subscription or assignment bytes cannot be read stays what
    it is."""
    (t,) = topics(s, 2)
    for label, metadata, assigned in (
        ("subscription", "00000000000900", None),
        ("short", "0001", None),
        ("assignment", None, "000000000009ff"),
        ("count", None, "00007fffffff"),
    ):
        m = Member(
            s,
            label,
            s.name(label),
            protocols=protocols("range", metadata=metadata or subscription(t)),
        )
        m.join()
        m.sync({m.member_id: assigned or assignment(t, 0, 1)})
        one = Consumer(s, f"to-{label}", m.group)
        one.join(t)
        m.heartbeat()


@scenario("consumer")
def votes_that_tie(s: Session) -> None:
    """K8-TGT-44-2: while two assignors have equally many votes, a heartbeat may change the
    preferred one, and bumps the epoch."""
    (t,) = topics(s, 6)
    a, b = Consumer(s, "a", s.name("g")), Consumer(s, "b", s.name("g"))
    a.join(t, server_assignor="range")
    b.join(t, server_assignor="uniform")
    for _ in range(3):
        a.ack()
        b.ack()
    a.beat()
    b.beat()
    a.beat(server_assignor="range")
    b.beat(server_assignor="uniform")
    describe(a.link, a.group)
    a.beat(server_assignor="uniform")
    b.beat()
    a.beat()
    describe(a.link, a.group)


@scenario("consumer", since="4.3")
def an_emptied_group_is_joined_at_once(s: Session) -> None:
    """K8-EP-44-1: when the last member goes the assignment epoch follows, and the next one to join
    need not wait for the interval."""
    (t,) = topics(s, 3)
    group = s.name("g")
    s.stage().ask_quietly(
        "IncrementalAlterConfigs",
        1,
        resources=[
            {
                "resource_type": GROUP,
                "resource_name": group,
                "configs": [
                    {
                        "name": "consumer.assignment.interval.ms",
                        "config_operation": 0,
                        "value": "15000",
                    }
                ],
            }
        ],
    )
    settle_value(s.stage(), GROUP, group, "consumer.assignment.interval.ms", "15000")
    for label in ("a", "b"):
        one = Consumer(s, label, group)
        one.join(t)
        describe(one.link, group)
        one.leave()
        describe(one.link, group)


def _try(s: Session, *settings: tuple[str, str]) -> None:
    """Each alone, of a group; none is kept."""
    a, group = s.connect(), s.name("g")
    for name, value in settings:
        change = {"name": name, "config_operation": 0, "value": value}
        resource = {"resource_type": GROUP, "resource_name": group, "configs": [change]}
        a.ask("IncrementalAlterConfigs", 1, resources=[resource], validate_only=True)


@scenario("shares", since="4.3")
def blanks_around_where_a_group_starts(s: Session) -> None:
    """What is refused is told without the blanks around it."""
    name = "share.auto.offset.reset"
    _try(s, (name, " earliest "), (name, " 5 "), (name, "\tx"), (name, " by_duration:PT1H "))


@scenario("shares", since="4.4")
def blanks_around_newer_settings_of_groups(s: Session) -> None:
    """Values are looked at without the blanks around them; doubles of tags are refused first of all."""
    letters, assignor = "errors.deadletterqueue.topic.name", "streams.assignor.name"
    _try(s, (letters, " __x"), (letters, " x "), (assignor, " sticky "), (assignor, " x "))
    tags = "streams.rack.aware.assignment.tags"
    _try(s, *((tags, text) for text in ("  ", ",", "a,a,", "a,,b", "a,", " a , b ")))
