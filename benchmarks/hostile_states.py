"""Small requests to brokers that hold much: what they make the broker do grows with its state, not
with their bytes.

100,000 groups, 20,000 transactional ids, groups of 200,000 offsets, transactions over 9,000
partitions, 9,000 topics with groups that subscribe to them by a regular expression, 2,000 members
that rejoin, quotas and credentials by the thousand. The same is allowed as in `benchmarks.hostile`,
and judged in the same way.

    python -m benchmarks.hostile_states [--brokers N] [part of a name ...]
"""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterator
from typing import Final

from benchmarks.hostile import MIB, Measured, Stage
from coordinator.cli.serving.serve import collect_rarely
from coordinator.server.cluster.model import TRANSACTION_STATE
from coordinator.server.cluster_runtime import Brokers, Hosts
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.messages import (
    broker_registration,
    client_quotas,
    delete_groups,
    describe_groups,
    find_coordinator,
    list_groups,
    log_dirs,
    metadata,
    reassignments,
    scram_credentials,
    transaction_views,
)
from coordinator.wire.messages import consumer_group_describe as descriptions
from coordinator.wire.messages import consumer_group_heartbeat as heartbeats
from coordinator.wire.messages import describe_topic_partitions as views
from coordinator.wire.messages import fetch as fetches
from coordinator.wire.messages import incremental_alter_configs as alterations
from coordinator.wire.messages import join_group as joins
from coordinator.wire.messages import list_offsets as offsets
from coordinator.wire.messages import offset_commit as commits
from coordinator.wire.messages import offset_delete as deletions
from coordinator.wire.messages import offset_fetch as readings
from coordinator.wire.messages import produce as produces
from coordinator.wire.messages import sync_group as syncs
from coordinator.wire.messages import topics as topic_requests
from coordinator.wire.messages import transactions as txn_requests

WIDE: Final = 9_000
MANY_GROUPS: Final = 100_000
MANY_OFFSETS: Final = 200_000
MANY_IDS: Final = 20_000
MANY_MEMBERS: Final = 2_000


def make_topics(stage: Stage, count: int, partitions: int, prefix: str) -> Measured:
    """Create topics of one name with numbers."""
    made = [
        topic_requests.CreatableTopic(
            name=f"{prefix}{n}", num_partitions=partitions, replication_factor=-1
        )
        for n in range(count)
    ]
    return stage.ask(
        topic_requests.CreateTopicsRequest(topics=made),
        7,
        f"CreateTopics of {count} topics of {partitions} partitions",
    )


def commit(stage: Stage, group: str, topic: str, count: int) -> None:
    """Commit offsets of so many partitions."""
    parts = [
        commits.OffsetCommitRequestPartition(partition_index=index, committed_offset=1)
        for index in range(count)
    ]
    stage.ask(
        commits.OffsetCommitRequest(
            group_id=group, topics=[commits.OffsetCommitRequestTopic(name=topic, partitions=parts)]
        ),
        8,
    )


def groups(stage: Stage) -> Iterator[Measured]:
    """Very many groups, and one of very many offsets."""
    for number in range(MANY_GROUPS):
        commit(stage, f"g{number}", "t", 1)
    gc.collect()
    yield stage.ask(list_groups.ListGroupsRequest(), 5, f"ListGroups of {MANY_GROUPS}")
    none = list_groups.ListGroupsRequest(states_filter=["Stable"])
    yield stage.ask(none, 5, f"ListGroups of {MANY_GROUPS}, none of which is in that state")
    names = [f"g{number}" for number in range(MANY_GROUPS)]
    yield stage.ask(
        describe_groups.DescribeGroupsRequest(groups=names),
        6,
        f"DescribeGroups of {MANY_GROUPS} that are there",
    )
    yield stage.ask(
        delete_groups.DeleteGroupsRequest(groups_names=names),
        2,
        f"DeleteGroups of {MANY_GROUPS} that are there",
    )
    yield make_topics(stage, 1, WIDE, "wide")
    for number in range(MANY_OFFSETS // WIDE):
        commit(stage, f"many{number}", "wide0", WIDE)
    for stable in (False, True):
        asked = [readings.OffsetFetchRequestGroup(group_id="many0", topics=None)]
        request = readings.OffsetFetchRequest(groups=asked, require_stable=stable)
        yield stage.ask(request, 9, f"OffsetFetch of all of {WIDE}, stable: {stable}")
    asked = [
        readings.OffsetFetchRequestGroup(group_id=f"many{number}", topics=None)
        for number in range(1, MANY_OFFSETS // WIDE)
    ]
    yield stage.ask(
        readings.OffsetFetchRequest(groups=asked),
        9,
        f"OffsetFetch of all of {len(asked)} groups of {WIDE} offsets",
    )
    parts = [deletions.OffsetDeleteRequestPartition(partition_index=index) for index in range(WIDE)]
    gone = deletions.OffsetDeleteRequest(
        group_id="many0",
        topics=[deletions.OffsetDeleteRequestTopic(name="wide0", partitions=parts)],
    )
    yield stage.ask(gone, 0, f"OffsetDelete of {WIDE}")
    doomed = [topic_requests.DeleteTopicState(name="wide0", topic_id=bytes(16))]
    title = f"DeleteTopics of a topic for which {len(asked)} groups have {WIDE} offsets each"
    yield stage.ask(topic_requests.DeleteTopicsRequest(topics=doomed, timeout_ms=1_000), 6, title)


def members(stage: Stage) -> Iterator[Measured]:
    """A group of very many members: whoever completes a phase has all of them answered."""

    def join(number: int, member: str = "") -> joins.JoinGroupRequest:
        return joins.JoinGroupRequest(
            group_id="crowd",
            session_timeout_ms=45_000,
            rebalance_timeout_ms=300_000,
            protocol_type="consumer",
            member_id=member,
            group_instance_id=f"i{number}",
            protocols=[joins.JoinGroupRequestProtocol(name="range", metadata=bytes(1_000))],
        )

    for number in range(MANY_MEMBERS):
        stage.ask(join(number), 9)
    group = stage.broker.coordinator.groups["crowd"]
    ids = list(group.members)
    *others, last = range(len(ids))
    for number in others:
        stage.ask(join(number, ids[number]), 9)
    yield stage.ask(join(last, ids[last]), 9, f"JoinGroup of the last of {len(ids)} members")
    plan = [
        syncs.SyncGroupRequestAssignment(member_id=member, assignment=bytes(1_000))
        for member in ids
    ]
    generation = stage.broker.coordinator.groups["crowd"].generation
    synced = syncs.SyncGroupRequest(
        group_id="crowd",
        generation_id=generation,
        member_id=ids[0],
        group_instance_id="i0",
        assignments=plan,
    )
    yield stage.ask(synced, 5, f"SyncGroup with the assignments of {len(ids)} members")
    yield stage.ask(join(0), 9, f"JoinGroup of a static member that restarts, of {len(ids)}")
    yield stage.ask(
        describe_groups.DescribeGroupsRequest(groups=["crowd"]),
        6,
        f"DescribeGroups of {len(ids)} members",
    )
    yield stage.ask(
        describe_groups.DescribeGroupsRequest(groups=["crowd"] * 1_000),
        6,
        f"DescribeGroups of {len(ids)} members 1,000 times",
    )


def topics(stage: Stage) -> Iterator[Measured]:
    """Very many topics, and groups of the consumer protocol that subscribe to all of them."""

    def beat(group: str, member: str, epoch: int = 0) -> heartbeats.ConsumerGroupHeartbeatRequest:
        return heartbeats.ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_id=member,
            member_epoch=epoch,
            rebalance_timeout_ms=30_000,
            topic_partitions=[],
            subscribed_topic_regex=".*",
        )

    yield make_topics(stage, 4_500, 1, "first.")
    for number in range(20):
        stage.ask(beat(f"k{number}", "m"), 1)
    yield stage.ask(
        beat("k", "m"),
        1,
        "ConsumerGroupHeartbeat subscribes to 4,500 topics by a regular expression",
    )
    yield stage.ask(beat("k", "n"), 1, "ConsumerGroupHeartbeat of the second member of that group")
    yield make_topics(stage, 4_500, 1, "second.")
    yield stage.ask(
        beat("k", "o"),
        1,
        "ConsumerGroupHeartbeat of the third, when there are twice as many topics",
    )
    described = descriptions.ConsumerGroupDescribeRequest(group_ids=["k"] * 100)
    yield stage.ask(described, 1, "ConsumerGroupDescribe of that group 100 times")
    yield stage.ask(metadata.MetadataRequest(topics=None), 13, "Metadata of 9,000 topics")
    request = views.DescribeTopicPartitionsRequest(response_partition_limit=2_000)
    yield stage.ask(request, 0, "DescribeTopicPartitions of 2,000 of 9,000 topics")
    doomed = [
        topic_requests.DeleteTopicState(name=f"first.{number}", topic_id=bytes(16))
        for number in range(4_500)
    ]
    yield stage.ask(
        topic_requests.DeleteTopicsRequest(topics=doomed, timeout_ms=1_000),
        6,
        "DeleteTopics of 4,500 topics of 21 groups",
    )


def wide(stage: Stage) -> Iterator[Measured]:
    """A topic of very many partitions, each named once or all by none."""
    yield make_topics(stage, 1, WIDE, "wide")
    every = range(WIDE)
    batch = build_batch([b"x"])
    data = [produces.PartitionProduceData(index=index, records=batch) for index in every]
    topic_data = [produces.TopicProduceData(name="wide0", partition_data=data)]
    yield stage.ask(
        produces.ProduceRequest(acks=-1, timeout_ms=1_000, topic_data=topic_data),
        12,
        f"Produce to {WIDE} partitions",
    )
    wanted = [
        fetches.FetchTopic(
            topic="wide0",
            partitions=[
                fetches.FetchPartition(partition=n, partition_max_bytes=MIB) for n in every
            ],
        )
    ]
    yield stage.ask(
        fetches.FetchRequest(max_bytes=1 << 28, topics=wanted),
        12,
        f"Fetch of {WIDE} partitions that have records",
    )
    for instant in (-1, -3, 1):
        asked = [
            offsets.ListOffsetsTopic(
                name="wide0",
                partitions=[
                    offsets.ListOffsetsPartition(partition_index=n, timestamp=instant)
                    for n in every
                ],
            )
        ]
        yield stage.ask(
            offsets.ListOffsetsRequest(replica_id=-1, topics=asked),
            7,
            f"ListOffsets of {WIDE} partitions at {instant}",
        )
    yield stage.ask(
        log_dirs.DescribeLogDirsRequest(topics=None), 4, f"DescribeLogDirs of {WIDE} partitions"
    )
    yield stage.ask(metadata.MetadataRequest(topics=None), 13, f"Metadata of {WIDE} partitions")
    remembered = [transaction_views.TopicRequest(name="wide0", partition_indexes=list(every))]
    yield stage.ask(
        transaction_views.DescribeProducersRequest(topics=remembered),
        0,
        f"DescribeProducers of {WIDE} partitions",
    )
    path = log_dirs.AlterReplicaLogDir(
        path="/tmp", topics=[log_dirs.AlterReplicaLogDirTopic(name="wide0", partitions=list(every))]
    )
    yield stage.ask(
        log_dirs.AlterReplicaLogDirsRequest(dirs=[path]),
        2,
        f"AlterReplicaLogDirs of {WIDE} partitions",
    )
    yield stage.ask(
        reassignments.ListPartitionReassignmentsRequest(topics=None),
        0,
        f"ListPartitionReassignments among {WIDE}",
    )
    for kind, name in ((4, ""), (2, "wide0")):
        change = alterations.AlterableConfig(
            name="min.insync.replicas", config_operation=0, value="2"
        )
        resource = alterations.AlterConfigsResource(
            resource_type=kind, resource_name=name, configs=[change]
        )
        title = f"IncrementalAlterConfigs of min.insync.replicas for {name or 'all brokers'}, {WIDE} partitions"
        yield stage.ask(alterations.IncrementalAlterConfigsRequest(resources=[resource]), 1, title)
    cut = [
        topic_requests.DeleteRecordsTopic(
            name="wide0",
            partitions=[
                topic_requests.DeleteRecordsPartition(partition_index=n, offset=-1) for n in every
            ],
        )
    ]
    yield stage.ask(
        topic_requests.DeleteRecordsRequest(topics=cut, timeout_ms=1_000),
        2,
        f"DeleteRecords of {WIDE} partitions",
    )
    if isinstance(stage.runtime, Brokers):
        away = next(
            n
            for n in stage.runtime.brokers
            if n not in (stage.broker.node_id, stage.runtime.controller.leader)
        )
        hosts = Hosts(stage.runtime)
        yield stage.do(f"a broker of {WIDE} partitions crashes", lambda: hosts.crash(away, 0))
        title = f"UnregisterBroker of a broker of {WIDE} partitions"
        yield stage.ask(broker_registration.UnregisterBrokerRequest(broker_id=away), 0, title)


def transactions(stage: Stage) -> Iterator[Measured]:
    """Very many transactional ids, and transactions over very many partitions."""
    stage.ask(find_coordinator.FindCoordinatorRequest(key_type=1, coordinator_keys=["tx"]), 6)
    if isinstance(stage.runtime, Brokers):
        Hosts(stage.runtime).move_leader(TRANSACTION_STATE, 0, stage.broker.node_id, 0)
        stage.settle()
    make_topics(stage, 1, WIDE, "wide")
    for number in range(MANY_IDS):
        stage.ask(
            txn_requests.InitProducerIdRequest(
                transactional_id=f"tx{number}", transaction_timeout_ms=60_000
            ),
            4,
        )
    known = stage.broker.services.transactions.coordinator.transactions
    assert len(known) == MANY_IDS, "the stage's broker coordinates them"
    yield stage.ask(
        transaction_views.ListTransactionsRequest(), 2, f"ListTransactions of {MANY_IDS}"
    )
    matched = transaction_views.ListTransactionsRequest(transactional_id_pattern="(t|x|[0-9])+9")
    yield stage.ask(matched, 2, f"ListTransactions of {MANY_IDS} by a regular expression")
    views = transaction_views.DescribeTransactionsRequest(transactional_ids=list(known))
    yield stage.ask(views, 0, f"DescribeTransactions of {MANY_IDS} that are there")
    for name, committed in (("tx0", True), ("tx1", False)):
        one = known[name]
        whole = [txn_requests.AddPartitionsToTxnTopic(name="wide0", partitions=list(range(WIDE)))]
        added = txn_requests.AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=name,
            v3_and_below_producer_id=one.producer_id,
            v3_and_below_producer_epoch=one.producer_epoch,
            v3_and_below_topics=whole,
        )
        yield stage.ask(added, 3, f"AddPartitionsToTxn of {WIDE} partitions")
        parts = [
            txn_requests.TxnOffsetCommitRequestPartition(partition_index=n, committed_offset=1)
            for n in range(WIDE)
        ]
        pending = txn_requests.TxnOffsetCommitRequest(
            transactional_id=name,
            group_id=f"of {name}",
            producer_id=one.producer_id,
            producer_epoch=one.producer_epoch,
            topics=[txn_requests.TxnOffsetCommitRequestTopic(name="wide0", partitions=parts)],
        )
        yield stage.ask(pending, 5, f"TxnOffsetCommit of {WIDE} partitions")
        ended = txn_requests.EndTxnRequest(
            transactional_id=name,
            producer_id=one.producer_id,
            producer_epoch=one.producer_epoch,
            committed=committed,
        )
        yield stage.ask(
            ended, 3, f"EndTxn of a transaction of {WIDE} partitions, committed: {committed}"
        )


def tables(stage: Stage) -> Iterator[Measured]:
    """Quotas and credentials by the thousand."""
    entries = [
        client_quotas.AlterClientQuotasRequestEntryData(
            entity=[client_quotas.EntityData(entity_type="client-id", entity_name=f"c{n}")],
            ops=[client_quotas.OpData(key="producer_byte_rate", value=1.0)],
        )
        for n in range(15_000)
    ]
    yield stage.ask(
        client_quotas.AlterClientQuotasRequest(entries=entries),
        1,
        "AlterClientQuotas of 15,000 clients",
    )
    anyone = client_quotas.ComponentData(entity_type="client-id", match_type=2, match=None)
    yield stage.ask(
        client_quotas.DescribeClientQuotasRequest(components=[anyone]),
        1,
        "DescribeClientQuotas of 15,000 clients",
    )
    upserted = [
        scram_credentials.ScramCredentialUpsertion(
            name=f"u{n}", mechanism=1, iterations=4_096, salt=bytes(8), salted_password=bytes(32)
        )
        for n in range(9_000)
    ]
    yield stage.ask(
        scram_credentials.AlterUserScramCredentialsRequest(upsertions=upserted),
        0,
        "AlterUserScramCredentials of 9,000 users",
    )
    yield stage.ask(
        scram_credentials.DescribeUserScramCredentialsRequest(users=None),
        0,
        "DescribeUserScramCredentials of 9,000 users",
    )


PARTS: Final[tuple[Callable[[Stage], Iterator[Measured]], ...]] = (
    groups,
    members,
    topics,
    wide,
    transactions,
    tables,
)


def main(arguments: list[str]) -> int:
    """1 if a request is over what is allowed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.hostile_states",
        description=__doc__.split("\n", 1)[0] if __doc__ else None,
    )
    parser.add_argument(
        "--brokers",
        type=int,
        default=1,
        metavar="N",
        help="so many brokers, one of which gets the requests (default: 1)",
    )
    parser.add_argument(
        "names", nargs="*", help="parts of the names of requests; all, if there are none"
    )
    options = parser.parse_args(arguments)
    collect_rarely()
    over = count = 0
    for part in PARTS:
        gc.collect()  # what the part before left is not this one's cost
        for measured in part(Stage(options.brokers)):
            if options.names and not any(name in measured.name for name in options.names):
                continue
            over += measured.held_ms > measured.allowed_ms
            count += 1
            print(measured, flush=True)
    print(f"{over} of {count} are over what is allowed")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
