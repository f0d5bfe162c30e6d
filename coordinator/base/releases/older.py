"""Older releases, each described by its differences from the one after it.

Rule: every row was seen on a real broker of the exact number (docs/releases.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from .model import Behaviour, Feature, Release, Settings
from .newest import NEWEST


def _settings(
    newer: Settings,
    without: str = "",
    *,
    back: str = "",
    different: str = "",
    more: str = "",
    in_place: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings of the release before `newer`: names that it lacks too (`without`), names
    that it has although `newer` lacks them (`back`), and the rest as in `Settings`.
    """
    return Settings(
        without=newer.without - set(back.split()) | set(without.split()),
        different=newer.different + different,
        more=newer.more + more,
        in_place={**newer.in_place, **(in_place or {})},
    )


def _before(
    newer: Release,
    name: str,
    number: str,
    *,
    metadata_version: int,
    api_versions: Mapping[int, tuple[int, int] | None],
    features: Mapping[str, Feature | None],
    without: Iterable[Behaviour] = (),
    back: Iterable[Behaviour] = (),
    broker_settings: Settings,
    topic_settings: Settings,
    group_settings: Settings,
) -> Release:
    """Return the release before `newer`, from its differences: APIs and features (None: it has none
    of them), the behaviours that it does not have yet (`without`), and those that it has
    although `newer` lacks them (`back`).
    """
    versions = {
        key: wanted
        for key, known in newer.api_versions.items()
        if (wanted := api_versions.get(key, known)) is not None
    }
    levels = {
        **newer.features,
        "metadata.version": Feature(
            lowest=newer.features["metadata.version"].lowest,
            highest=metadata_version,
            finalized=metadata_version,
        ),
        **features,
    }
    return replace(
        newer,
        name=name,
        number=number,
        api_versions=versions,
        features={name: level for name, level in levels.items() if level is not None},
        metadata_versions={
            level: called
            for level, called in newer.metadata_versions.items()
            if level <= metadata_version
        },
        behaviours=newer.behaviours - frozenset(without) | frozenset(back),
        broker_settings=broker_settings,
        topic_settings=topic_settings,
        group_settings=group_settings,
    )


_4_3 = _before(
    NEWEST,
    "4.3",
    "4.3.1",
    metadata_version=30,
    api_versions={
        18: (0, 4),
        28: (0, 5),
        42: (0, 2),
        88: (0, 0),
        89: (0, 0),
        93: None,
        94: None,
    },
    features={"share.version": Feature(lowest=0, highest=1, finalized=1)},
    without={
        "ACL-5",
        "CFG-44-3",
        "CFG-44-5",
        "K8-CLS-44-3",
        "K8-EP-44-1",
        "K8-MIG-44-4",
        "K8-ST-5",
        "K8-TGT-44-2",
        "META-44-1",
        "PART-44-1",
        "QUO-44-1",
        "REC-44-1",
        "REF-44-1",
        "SH-44-1",
        "SH-44-2",
        "SH-44-3",
        "V44-7",
    },
    broker_settings=_settings(
        NEWEST.broker_settings,
        """
        errors.deadletterqueue.auto.create.topics.enable
        errors.deadletterqueue.topic.name.prefix
        group.consumer.assignor.offload.enable
        group.share.assignor.offload.enable
        group.streams.acceptable.recovery.lag
        group.streams.assignor.offload.enable
        group.streams.assignors
        group.streams.max.warmup.replicas
        group.streams.min.task.offset.interval.ms
        group.streams.num.warmup.replicas
        group.streams.rack.aware.assignment.tags
        group.streams.task.offset.interval.ms
        group.streams.topology.description.plugin.class
        log.remote.copy.lag.bytes
        log.remote.copy.lag.ms
        max.decompressed.message.bytes
        sasl.oauthbearer.allow.unverified.audience
        sasl.oauthbearer.allow.unverified.issuer
        """,
    ),
    topic_settings=_settings(
        NEWEST.topic_settings,
        """
        errors.deadletterqueue.group.enable
        max.decompressed.message.bytes
        remote.copy.lag.bytes
        remote.copy.lag.ms
        """,
    ),
    group_settings=_settings(
        NEWEST.group_settings,
        """
        consumer.assignor.offload.enable
        errors.deadletterqueue.copy.record.enable
        errors.deadletterqueue.topic.name
        share.assignor.offload.enable
        streams.acceptable.recovery.lag
        streams.assignor.name
        streams.assignor.offload.enable
        streams.num.warmup.replicas
        streams.rack.aware.assignment.tags
        streams.task.offset.interval.ms
        """,
    ),
)

_AT_ONCE: Final = {
    "group.consumer.assignment.interval.ms": "0",
    "group.share.assignment.interval.ms": "0",
}
"""Settings without a delay: before 4.3 no group waits before it is assigned again."""

_4_2 = _before(
    _4_3,
    "4.2",
    "4.2.2",
    metadata_version=29,
    api_versions={35: (1, 4)},
    features={},
    without={
        "CFG-43-1",
        "CFG-43-2",
        "K8-CLS-43-5",
        "K8-DSC-43-1",
        "K8-HB-43-1",
        "K8-OFF-43-1",
        "PLACE-43-1",
        "SH-43-1",
    },
    back={"K8-CLS-44-3", "K8-MIG-44-4", "REC-44-1", "REF-44-1", "SH-44-2", "V44-7"},
    broker_settings=_settings(
        _4_3.broker_settings,
        """
        controller.quorum.fetch.max.bytes
        controller.quorum.fetch.snapshot.max.bytes
        cordoned.log.dirs
        follower.fetch.last.tiered.offset.enable
        group.consumer.assignment.interval.ms
        group.consumer.max.assignment.interval.ms
        group.consumer.min.assignment.interval.ms
        group.coordinator.background.threads
        group.coordinator.cached.buffer.max.bytes
        group.share.assignment.interval.ms
        group.share.max.assignment.interval.ms
        group.share.max.delivery.count.limit
        group.share.max.partition.max.record.locks
        group.share.min.assignment.interval.ms
        group.share.min.delivery.count.limit
        group.share.min.partition.max.record.locks
        group.streams.assignment.interval.ms
        group.streams.max.assignment.interval.ms
        group.streams.min.assignment.interval.ms
        share.coordinator.cached.buffer.max.bytes
        """,
        back="max.decompressed.message.bytes",
        in_place=_AT_ONCE,
    ),
    topic_settings=_settings(_4_3.topic_settings, back="max.decompressed.message.bytes"),
    group_settings=_settings(
        _4_3.group_settings,
        """
        consumer.assignment.interval.ms
        share.assignment.interval.ms
        share.delivery.count.limit
        share.partition.max.record.locks
        share.renew.acknowledge.enable
        streams.assignment.interval.ms
        """,
    ),
)

_4_1 = _before(
    _4_2,
    "4.1",
    "4.1.2",
    metadata_version=27,
    api_versions={
        2: (1, 10),
        8: (2, 9),
        9: (1, 9),
        27: (1, 1),
        78: (1, 1),
        79: (1, 1),
        80: (0, 0),
        85: (0, 0),
        87: (0, 0),
        88: None,
        89: None,
        90: (0, 0),
    },
    features={
        "share.version": Feature(lowest=0, highest=1),
        "streams.version": None,
    },
    without={
        "CFG-42-1",
        "K8-CLS-44-3",
        "K8-EP-42-1",
        "K8-MIG-42-1",
        "K8-MIG-44-4",
        "K8-REC-42-1",
        "REC-44-1",
        "REF-44-1",
        "SH-44-2",
        "V44-7",
    },
    broker_settings=_settings(
        _4_2.broker_settings,
        """
        config.providers
        controller.quorum.auto.join.enable
        group.streams.initial.rebalance.delay.ms
        max.decompressed.message.bytes
        remote.log.manager.follower.thread.pool.size
        """,
        different="""
controller.listener.names string null - -
early.start.listeners string null - -
group.coordinator.append.linger.ms int 5 0.. -
listeners string PLAINTEXT://:9092 - broker
log.cleanup.policy list delete [compact|delete]* cluster
log.dir string /tmp/kafka-logs - -
sasl.oauthbearer.expected.audience list null - -
share.coordinator.append.linger.ms int 5 0.. -
""",
    ),
    topic_settings=_settings(
        _4_2.topic_settings,
        "max.decompressed.message.bytes",
        different="""
cleanup.policy list delete [compact|delete]* -
""",
    ),
    group_settings=_settings(_4_2.group_settings, "streams.initial.rebalance.delay.ms"),
)

_4_0 = _before(
    _4_1,
    "4.0",
    "4.0.2",
    metadata_version=25,
    api_versions={
        0: (0, 12),
        1: (4, 17),
        45: (0, 0),
        66: (0, 1),
        74: (0, 0),
        **dict.fromkeys((76, 77, 78, 79, 83, 84, 85, 86, 87, 90, 91, 92)),
    },
    features={
        "eligible.leader.replicas.version": Feature(lowest=0, highest=1),
        "share.version": None,
    },
    without={"BRK-41-1"},
    broker_settings=_settings(
        _4_1.broker_settings,
        """
        group.share.assignors
        group.share.max.share.sessions
        group.streams.heartbeat.interval.ms
        group.streams.max.heartbeat.interval.ms
        group.streams.max.session.timeout.ms
        group.streams.max.size
        group.streams.max.standby.replicas
        group.streams.min.heartbeat.interval.ms
        group.streams.min.session.timeout.ms
        group.streams.num.standby.replicas
        group.streams.session.timeout.ms
        sasl.oauthbearer.assertion.algorithm
        sasl.oauthbearer.assertion.claim.aud
        sasl.oauthbearer.assertion.claim.exp.seconds
        sasl.oauthbearer.assertion.claim.iss
        sasl.oauthbearer.assertion.claim.jti.include
        sasl.oauthbearer.assertion.claim.nbf.seconds
        sasl.oauthbearer.assertion.claim.sub
        sasl.oauthbearer.assertion.file
        sasl.oauthbearer.assertion.private.key.file
        sasl.oauthbearer.assertion.private.key.passphrase
        sasl.oauthbearer.assertion.template.file
        sasl.oauthbearer.client.credentials.client.id
        sasl.oauthbearer.client.credentials.client.secret
        sasl.oauthbearer.jwt.retriever.class
        sasl.oauthbearer.jwt.validator.class
        sasl.oauthbearer.scope
        transaction.two.phase.commit.enable
        """,
        different="""
group.coordinator.rebalance.protocols list classic,consumer - -
group.share.partition.max.record.locks int 200 100..10000 -
log.segment.bytes int 1073741824 14.. cluster
share.coordinator.append.linger.ms int 10 0.. -
""",
        more="""
group.share.max.groups short 10 1..100 -
""",
    ),
    topic_settings=_settings(
        _4_1.topic_settings,
        "internal.segment.bytes",
        different="""
segment.bytes int 1073741824 14.. -
""",
    ),
    group_settings=_settings(
        _4_1.group_settings,
        """
        share.isolation.level
        streams.heartbeat.interval.ms
        streams.num.standby.replicas
        streams.session.timeout.ms
        """,
    ),
)

_CLASSES: Final = ",".join(
    f"org.apache.kafka.coordinator.group.assignor.{name}Assignor" for name in ("Uniform", "Range")
)

_3_9 = _before(
    _4_0,
    "3.9",
    "3.9.2",
    metadata_version=21,
    api_versions={
        0: (0, 11),
        1: (0, 17),
        2: (0, 9),
        3: (0, 12),
        8: (0, 9),
        9: (0, 9),
        15: (0, 5),
        19: (0, 7),
        20: (0, 6),
        23: (0, 4),
        26: (0, 4),
        27: (0, 1),
        28: (0, 4),
        29: (0, 3),
        30: (0, 3),
        31: (0, 3),
        32: (0, 4),
        34: (0, 2),
        35: (0, 4),
        38: (0, 3),
        39: (0, 2),
        40: (0, 2),
        41: (0, 3),
        57: (0, 1),
        60: (0, 1),
        68: (0, 0),
        69: (0, 0),
    },
    features={
        "eligible.leader.replicas.version": None,
        "group.version": None,
        "metadata.version": Feature(lowest=1, highest=21, finalized=21),
        "transaction.version": None,
    },
    without={"CFG-40-1", "DSC-40-1", "LV-40-1", "OC-40-1", "SYNC-40-1"},
    broker_settings=_settings(
        _4_0.broker_settings,
        """
        add.partitions.to.txn.retry.backoff.max.ms
        add.partitions.to.txn.retry.backoff.ms
        group.consumer.migration.policy
        remote.list.offsets.request.timeout.ms
        share.coordinator.append.linger.ms
        share.coordinator.load.buffer.size
        share.coordinator.snapshot.update.records.per.snapshot
        share.coordinator.state.topic.compression.codec
        share.coordinator.state.topic.num.partitions
        share.coordinator.state.topic.segment.bytes
        share.coordinator.threads
        share.coordinator.write.timeout.ms
        share.fetch.purgatory.purge.interval.requests
        """,
        different=f"""
group.consumer.assignors list {_CLASSES} [] -
group.coordinator.append.linger.ms int 10 0.. -
group.coordinator.rebalance.protocols list classic [consumer|classic|share]! -
group.coordinator.threads int 1 1.. -
group.share.max.size short 200 1..1000 -
log.message.timestamp.after.max.ms long 9223372036854775807 0.. cluster
metric.reporters list '' [] cluster
num.recovery.threads.per.data.dir int 1 1.. cluster
remote.log.manager.copier.thread.pool.size int -1 -1.. -
remote.log.manager.expiration.thread.pool.size int -1 -1.. -
remote.log.manager.thread.pool.size int 10 1.. -
remote.log.reader.threads int 10 1.. -
""",
        more="""
alter.config.policy.kraft.compatibility.enable boolean false - -
auto.include.jmx.reporter boolean true - -
broker.id.generation.enable boolean true - -
control.plane.listener.name string null - -
controlled.shutdown.max.retries int 3 - -
controlled.shutdown.retry.backoff.ms long 5000 - -
delegation.token.master.key password null - -
eligible.leader.replicas.enable boolean false - -
inter.broker.protocol.version string 3.9-IV0 - -
leader.imbalance.per.broker.percentage int 10 - -
log.message.downconversion.enable boolean true - cluster
log.message.format.version string 3.0-IV1 - -
log.message.timestamp.difference.max.ms long 9223372036854775807 - cluster
offsets.commit.required.acks short -1 - -
password.encoder.cipher.algorithm string AES/CBC/PKCS5Padding - -
password.encoder.iterations int 4096 - -
password.encoder.key.length int 128 - -
password.encoder.keyfactory.algorithm string null - -
password.encoder.old.secret password null - -
password.encoder.secret password null - -
reserved.broker.max.id int 1000 - -
zookeeper.clientCnxnSocket string null - -
zookeeper.connect string null - -
zookeeper.connection.timeout.ms int null - -
zookeeper.max.in.flight.requests int 10 - -
zookeeper.metadata.migration.enable boolean false - -
zookeeper.session.timeout.ms int 18000 - -
zookeeper.set.acl boolean false - -
zookeeper.ssl.cipher.suites list null []? -
zookeeper.ssl.client.enable boolean false - -
zookeeper.ssl.crl.enable boolean false - -
zookeeper.ssl.enabled.protocols list null []? -
zookeeper.ssl.endpoint.identification.algorithm string HTTPS - -
zookeeper.ssl.keystore.location string null - -
zookeeper.ssl.keystore.password password null - -
zookeeper.ssl.keystore.type string null - -
zookeeper.ssl.ocsp.enable boolean false - -
zookeeper.ssl.protocol string TLSv1.2 - -
zookeeper.ssl.truststore.location string null - -
zookeeper.ssl.truststore.password password null - -
zookeeper.ssl.truststore.type string null - -
""",
    ),
    topic_settings=_settings(
        _4_0.topic_settings,
        different="""
message.timestamp.after.max.ms long 9223372036854775807 0.. -
""",
        more="""
message.downconversion.enable boolean true - -
message.format.version string 3.0-IV1 - -
message.timestamp.difference.max.ms long 9223372036854775807 - -
""",
    ),
    group_settings=_settings(
        _4_0.group_settings,
        """
        consumer.heartbeat.interval.ms
        consumer.session.timeout.ms
        share.auto.offset.reset
        share.heartbeat.interval.ms
        share.record.lock.duration.ms
        share.session.timeout.ms
        """,
    ),
)

OLDER: Final = (_4_3, _4_2, _4_1, _4_0, _3_9)
"""The newest first."""
