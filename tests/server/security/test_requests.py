"""Requests of a user with some rights, by the bytes of a connection (ACL-1, ACL-2, ACL-7, ACL-9,
REF-1, REF-2, REF-4 to REF-6, REF-11 to REF-13, REF-15). Beside a real Kafka they are played in
integration_tests/wire/scenarios/rights.py."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.base.releases import NEWEST, Release, release_named
from coordinator.events.acls import read_acl
from coordinator.server.security.authorizer import Authorizer
from coordinator.server.storage.record_codec import build_batch
from coordinator.wire.messages.acls import (
    AclCreation,
    CreateAclsRequest,
    DeleteAclsFilter,
    DeleteAclsRequest,
)
from coordinator.wire.messages.client_quotas import DescribeClientQuotasRequest
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from coordinator.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from coordinator.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from coordinator.wire.messages.find_coordinator import FindCoordinatorRequest
from coordinator.wire.messages.incremental_alter_configs import (
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from coordinator.wire.messages.list_groups import ListGroupsRequest
from coordinator.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from coordinator.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from coordinator.wire.messages.reassignments import ElectLeadersRequest, TopicPartitions
from coordinator.wire.messages.share_fetch import (
    AcknowledgementBatch,
    ForgottenTopic,
    ShareFetchRequest,
)
from coordinator.wire.messages.share_fetch import FetchPartition as FetchPartitionOfShares
from coordinator.wire.messages.share_fetch import FetchTopic as FetchTopicOfShares
from coordinator.wire.messages.share_group_describe import ShareGroupDescribeRequest
from coordinator.wire.messages.streams_groups import StreamsGroupHeartbeatRequest
from coordinator.wire.messages.topics import (
    CreatableTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
    DeleteTopicState,
)
from coordinator.wire.messages.transactions import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
)
from tests.server.security.driver import SecuredClient, SecuredDriver

NOT_ASKED = -2147483648
MEMBER = "AAAAAAAAAAAAAAAAAAAAAQ"
TOPIC, GROUP, CLUSTER = (
    ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
)


def driver(*rights: str, release: Release = NEWEST) -> SecuredDriver:
    made = SecuredDriver(["t:1", "u:1"], release=release)
    made.security.authorizer = Authorizer(
        [read_acl(f"User:alice may {right}") for right in rights], ["User:bob"]
    )
    return made


def alice(*rights: str) -> SecuredClient:
    client = driver(*rights).client()
    client.log_in("alice")
    return client


def ask(client: SecuredClient, request: Any, version: int) -> Any:
    return client.ask(request, version)


def named(*names: str, auto: bool = False) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(name=name) for name in names], allow_auto_topic_creation=auto
    )


def codes(answer: Any) -> dict[str, int]:
    return {topic.name: topic.error_code for topic in answer.topics}


class TestMetadata:
    def test_names_are_hidden_and_of_all_left_out(self) -> None:
        """ACL-1."""
        client = alice("Describe topic t")
        assert codes(ask(client, named("t", "u", "none", "bad name"), 9)) == {
            "t": 0,
            "u": TOPIC,
            "none": TOPIC,
            "bad name": TOPIC,
        }
        assert codes(ask(client, MetadataRequest(topics=None), 9)) == {"t": 0}
        assert codes(ask(client, MetadataRequest(topics=[]), 0)) == {"t": 0}
        assert codes(ask(client, named("u"), 0)) == {"u": TOPIC}

    def test_a_new_right_is_seen_at_once(self) -> None:
        made = driver("Describe topic t")
        client = made.client()
        client.log_in("alice")
        for _ in range(2):
            assert codes(ask(client, MetadataRequest(topics=None), 9)) == {"t": 0}
        assert made.security.authorizer is not None
        made.security.authorizer.add([read_acl("User:alice may Read topic u")])
        assert codes(ask(client, MetadataRequest(topics=None), 9)) == {"t": 0, "u": 0}
        other = made.client()
        other.log_in("bob")
        assert len(codes(ask(other, MetadataRequest(topics=None), 9))) == 3

    def test_ids_tell(self) -> None:
        """ACL-1."""
        made = driver()
        client = made.client()
        client.log_in("alice")
        there, none = made.broker.cluster.topics["t"].id, b"\x07" * 16
        asked = [MetadataRequestTopic(topic_id=each, name=None) for each in (there, none)]
        answer = ask(client, MetadataRequest(topics=asked), 12)
        assert {(each.topic_id, each.name, each.error_code) for each in answer.topics} == {
            (there, None, TOPIC),
            (none, None, ErrorCode.UNKNOWN_TOPIC_ID),
        }

    @pytest.mark.parametrize(
        ("rights", "code", "made"),
        [
            (("Create topic new",), TOPIC, False),
            (("Create cluster",), TOPIC, False),
            (("Describe topic new",), TOPIC, False),
            (("Describe topic new", "Create topic new"), 3, True),
            (("Describe topic new", "Create cluster"), 3, True),
        ],
    )
    def test_topics_made_by_asking(self, rights: tuple[str, ...], code: int, made: bool) -> None:
        """ACL-2."""
        client = alice(*rights)
        assert codes(ask(client, named("new", auto=True), 9)) == {"new": code}
        assert ("new" in client.driver.broker.cluster.topics) is made

    def test_operations_are_those_that_are_allowed(self) -> None:
        """REF-15."""
        client = alice("Read topic t", "Describe cluster")
        request = named("t")
        request.include_topic_authorized_operations = True
        request.include_cluster_authorized_operations = True
        answer = ask(client, request, 9)
        assert answer.topics[0].topic_authorized_operations == 1 << 3 | 1 << 8
        assert answer.cluster_authorized_operations == 1 << 8
        assert ask(client, named("t"), 9).topics[0].topic_authorized_operations == NOT_ASKED
        client = alice("Read topic t")
        assert ask(client, request, 9).cluster_authorized_operations == 0
        shown = ask(client, DescribeTopicPartitionsRequest(topics=[TopicRequest(name="t")]), 0)
        assert shown.topics[0].topic_authorized_operations == 1 << 3 | 1 << 8


def produce(acks: int, *names: str) -> ProduceRequest:
    records = build_batch([b"v"])
    return ProduceRequest(
        acks=acks,
        timeout_ms=1_000,
        topic_data=[
            TopicProduceData(
                name=name, partition_data=[PartitionProduceData(index=0, records=records)]
            )
            for name in names
        ],
    )


class TestRecords:
    def test_what_is_refused_closes_who_waits_for_nothing(self) -> None:
        """REF-2: the other topic's records are kept."""
        client = alice("Write topic t")
        client.send(produce(0, "t", "u"), 9)
        assert client.closed is not None and not client.writes
        ends = [
            client.driver.broker.cluster.topics[name].partitions[0].log.log_end_offset
            for name in ("t", "u")
        ]
        assert ends == [1, 0]

    def test_each_topic_by_itself(self) -> None:
        client = alice("Write topic t")
        answer = ask(client, produce(1, "t", "u"), 9)
        assert {each.name: each.partition_responses[0].error_code for each in answer.responses} == {
            "t": 0,
            "u": TOPIC,
        }

    def test_a_fetch_session_keeps_what_is_refused(self) -> None:
        made = driver("Read topic t")
        client = made.client()
        client.log_in("alice")
        asked = [FetchTopic(topic=name, partitions=[FetchPartition(partition=0)]) for name in "tu"]
        first = ask(client, FetchRequest(session_epoch=0, topics=asked), 12)
        shown = {each.topic: each.partitions[0].error_code for each in first.responses}
        assert shown == {"t": 0, "u": TOPIC}
        again = ask(
            client, FetchRequest(session_id=first.session_id, session_epoch=1, topics=[]), 12
        )
        assert {each.topic for each in again.responses} == {"u"}
        assert made.security.authorizer is not None
        made.security.authorizer.remove([read_acl("User:alice may Read topic t")], made.now)
        again = ask(
            client, FetchRequest(session_id=first.session_id, session_epoch=2, topics=[]), 12
        )
        assert {each.topic for each in again.responses} == {"t", "u"}

    def test_a_transaction_wants_all_or_nothing(self) -> None:
        """REF-1."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id="x",
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(name=name, partitions=[0]) for name in ("t", "u")
            ],
        )

        def told(client: SecuredClient) -> list[int]:
            answer = ask(client, request, 3)
            return [
                each.results_by_partition[0].partition_error_code
                for each in answer.results_by_topic_v3_and_below
            ]

        assert told(alice("Write topic t")) == [53, 53]
        assert told(alice("Write transactional_id x", "Write topic t")) == [
            ErrorCode.OPERATION_NOT_ATTEMPTED,
            TOPIC,
        ]
        answer = ask(alice("Write topic t"), AddPartitionsToTxnRequest(), 5)
        assert answer.error_code == CLUSTER


class TestGroups:
    def test_lists_leave_out(self) -> None:
        """REF-5."""
        made = driver("Read group g")
        admin = made.client()
        admin.log_in("bob")
        for group in ("g", "h"):
            rows = [OffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
            commit = OffsetCommitRequest(
                group_id=group,
                generation_id_or_member_epoch=-1,
                topics=[OffsetCommitRequestTopic(name="t", partitions=rows)],
            )
            admin.ask(commit, 8)
        client = made.client()
        client.log_in("alice")
        assert [each.group_id for each in ask(client, ListGroupsRequest(), 4).groups] == ["g"]
        assert len(ask(admin, ListGroupsRequest(), 4).groups) == 2

    def test_commits_and_their_topics(self) -> None:
        client = alice("Read group g", "Read topic t")
        rows = [OffsetCommitRequestPartition(partition_index=0, committed_offset=1)]
        commit = OffsetCommitRequest(
            group_id="g",
            generation_id_or_member_epoch=-1,
            topics=[OffsetCommitRequestTopic(name=name, partitions=rows) for name in ("t", "u")],
        )
        shown = [
            (each.name, each.partitions[0].error_code) for each in ask(client, commit, 8).topics
        ]
        assert shown == [("u", TOPIC), ("t", 0)]
        (line,) = client.lines("AuthorizationRefused")
        assert (line["principal"], line["operation"], line["name"]) == ("User:alice", "Read", "u")
        assert line["group"] == "g" and line["api"] == "offset_commit"

    def test_texts_of_find_coordinator(self) -> None:
        """REF-4."""
        answer = ask(alice(), FindCoordinatorRequest(coordinator_keys=["g"], key_type=0), 4)
        row = answer.coordinators[0]
        assert (row.error_code, row.error_message, row.port) == (GROUP, "", -1)
        answer = ask(alice(), FindCoordinatorRequest(key="g", key_type=0), 3)
        assert (answer.error_code, answer.error_message) == (GROUP, "Group authorization failed.")

    def test_a_heartbeat_names_what_it_may_describe(self) -> None:
        """REF-6."""
        beat = ConsumerGroupHeartbeatRequest(
            group_id="g",
            member_id="m" * 22,
            member_epoch=0,
            rebalance_timeout_ms=10_000,
            subscribed_topic_names=["t", "u"],
            topic_partitions=[],
        )
        assert ask(alice("Describe topic t"), beat, 1).error_code == GROUP
        assert ask(alice("Read group g", "Describe topic t"), beat, 1).error_code == TOPIC
        rights = ("Read group g", "Describe topic t", "Describe topic u")
        assert ask(alice(*rights), beat, 1).error_code == 0

    def test_a_regular_expression_finds_what_may_be_described(self) -> None:
        """REF-7, K8-RX-3: by who has it matched, for all that have the same one."""
        client = alice("Read group g", "Describe topic t")
        assert isinstance(client.driver, SecuredDriver)

        def beat(who: SecuredClient, member: str, epoch: int, regex: str | None) -> Any:
            fresh = {"rebalance_timeout_ms": 10_000, "topic_partitions": []} if epoch == 0 else {}
            request = ConsumerGroupHeartbeatRequest(
                group_id="g",
                member_id=member,
                member_epoch=epoch,
                subscribed_topic_regex=regex,
                **fresh,
            )
            return ask(who, request, 1)

        def found() -> list[str]:
            membership = client.driver.broker.coordinator.groups["g"].consumer
            assert membership is not None
            return sorted(membership.regexes["[tu]"])

        beat(client, "a", 0, "[tu]")
        assert found() == ["t"]
        bob = client.driver.client()
        bob.log_in("bob")  # a super user
        beat(bob, "b", 0, "[tu]")
        assert found() == ["t"]
        for who, member in ((client, "a"), (bob, "b")):
            beat(who, member, -1, None)
        beat(bob, "b", 0, "[tu]")
        assert found() == ["t", "u"]


class TestAdministration:
    def test_topics_are_made_and_their_configurations_hidden(self) -> None:
        """REF-11."""
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(name=name, num_partitions=1, replication_factor=1)
                for name in ("new", "bad name")
            ],
            timeout_ms=1_000,
        )
        client = alice("Create topic new")
        rows = {each.name: each for each in ask(client, request, 7).topics}
        assert (rows["bad name"].error_code, rows["bad name"].error_message) == (
            TOPIC,
            "Authorization failed.",
        )
        new = rows["new"]
        assert (new.error_code, new.num_partitions, new.configs) == (0, -1, [])
        assert new.topic_config_error_code == TOPIC
        assert "new" in client.driver.broker.cluster.topics

    def test_topics_that_are_deleted(self) -> None:
        """ACL-1."""
        made = driver("Describe topic t", "Describe topic none")
        client = made.client()
        client.log_in("alice")
        t, u = (made.broker.cluster.topics[name].id for name in "tu")
        states = [DeleteTopicState(name=None, topic_id=each) for each in (t, u)]
        rows = ask(client, DeleteTopicsRequest(topics=states, timeout_ms=1_000), 6).responses
        assert [(each.name, each.error_code) for each in rows] == [("t", TOPIC), (None, TOPIC)]
        request = DeleteTopicsRequest(topic_names=["none", "hidden"], timeout_ms=1_000)
        assert {each.name: each.error_code for each in ask(client, request, 5).responses} == {
            "none": ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "hidden": TOPIC,
        }

    def test_configurations_by_their_kind(self) -> None:
        """REF-12."""
        request = DescribeConfigsRequest(
            resources=[
                DescribeConfigsResource(resource_type=kind, resource_name=name)
                for kind, name in ((2, "t"), (4, "1"), (32, "g"))
            ]
        )
        answer = ask(alice(), request, 4)
        assert [each.error_code for each in answer.results] == [TOPIC, CLUSTER, GROUP]
        answer = ask(alice("AlterConfigs cluster"), request, 4)
        assert [each.error_code for each in answer.results] == [TOPIC, 0, GROUP]

    @pytest.mark.parametrize(
        ("release", "of_the_broker"),
        [("4.4", None), ("4.3", "Cluster authorization failed.")],
    )
    def test_the_text_of_a_refused_change_of_a_broker(
        self, release: str, of_the_broker: str | None
    ) -> None:
        """REF-44-1: that of the others stays."""
        client = driver(release=release_named(release)).client()
        client.log_in("alice")
        request = IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(resource_type=kind, resource_name=name)
                for kind, name in ((4, "1"), (16, "m"))
            ]
        )
        assert [
            (each.resource_type, each.error_code, each.error_message)
            for each in ask(client, request, 1).responses
        ] == [(4, CLUSTER, of_the_broker), (16, CLUSTER, "Cluster authorization failed.")]

    def test_of_the_cluster(self) -> None:
        """REF-13."""
        request = ElectLeadersRequest(
            topic_partitions=[TopicPartitions(topic="t", partitions=[0, 1])]
        )
        answer = ask(alice("Describe cluster"), request, 2)
        rows = answer.replica_election_results[0].partition_result
        assert answer.error_code == CLUSTER
        assert [each.error_code for each in rows] == [CLUSTER, CLUSTER]
        quotas = ask(alice("Describe cluster"), DescribeClientQuotasRequest(), 1)
        assert (quotas.error_code, quotas.entries) == (CLUSTER, None)

    def test_acls(self) -> None:
        """ACL-7, ACL-9."""
        made = driver()
        client, admin = made.client(), made.client()
        client.log_in("alice")
        admin.log_in("bob")
        good = AclCreation(
            resource_type=2,
            resource_name="t",
            principal="User:alice",
            host="*",
            operation=3,
            permission_type=3,
        )
        refused = ask(client, CreateAclsRequest(creations=[good, good]), 3)
        assert [each.error_code for each in refused.results] == [CLUSTER, CLUSTER]
        bad = AclCreation(
            resource_type=2,
            resource_name="",
            principal="User:alice",
            host="*",
            operation=3,
            permission_type=3,
        )
        answer = ask(admin, CreateAclsRequest(creations=[bad, good, good]), 3)
        assert [each.error_code for each in answer.results] == [42, 0, 0]
        match = AclCreation(
            resource_type=2,
            resource_name="t",
            resource_pattern_type=2,
            principal="User:alice",
            host="*",
            operation=4,
            permission_type=3,
        )
        answer = ask(admin, CreateAclsRequest(creations=[good, match]), 3)
        assert [each.error_code for each in answer.results] == [-1, -1]
        assert codes(ask(client, named("t"), 9)) == {"t": 0}
        anything = DeleteAclsFilter(
            resource_type_filter=1,
            resource_name_filter=None,
            pattern_type_filter=1,
            principal_filter=None,
            host_filter=None,
            operation=1,
            permission_type=1,
        )
        answer = ask(admin, DeleteAclsRequest(filters=[anything, anything]), 3)
        assert [len(each.matching_acls) for each in answer.filter_results] == [1, 1]
        assert codes(ask(client, named("t"), 9)) == {"t": TOPIC}
        assert [line["type"] for line in made.log.events() if "acls" in line] == [
            "AclsCreated",
            "AclsDeleted",
        ]


def share_fetch(
    client: SecuredClient,
    epoch: int,
    partition: int | None = None,
    *,
    acks: bool = False,
    forgets: int | None = None,
) -> ShareFetchRequest:
    """A fetch of a session, of `t`. `acks`: it acknowledges the first record."""
    id_of_t = client.driver.broker.cluster.topics["t"].id
    batches = [AcknowledgementBatch(first_offset=0, last_offset=0, acknowledge_types=[1])]
    named = FetchPartitionOfShares(
        partition_index=partition or 0, acknowledgement_batches=batches if acks else []
    )
    return ShareFetchRequest(
        group_id="g",
        member_id=MEMBER,
        share_session_epoch=epoch,
        max_bytes=1,
        max_records=1,
        topics=[]
        if partition is None
        else [FetchTopicOfShares(topic_id=id_of_t, partitions=[named])],
        forgotten_topics_data=[]
        if forgets is None
        else [ForgottenTopic(topic_id=id_of_t, partitions=[forgets])],
    )


class TestShareGroups:
    """REF-10."""

    def test_what_is_not_served_is_refused_whatever_the_rights(self) -> None:
        """Share groups that are off, and streams groups: 35, and no refusal is told."""
        client = alice()
        client.driver.broker.cluster.set_feature("share.version", 0)
        assert ask(client, share_fetch(client, 0, 0), 1).error_code == 35
        described = ask(client, ShareGroupDescribeRequest(group_ids=["g"]), 1)
        assert [group.error_code for group in described.groups] == [35]
        beat = StreamsGroupHeartbeatRequest(group_id="g", member_id=MEMBER)
        assert ask(client, beat, 1).error_code == 35
        assert not client.driver.lines("AuthorizationRefused")
        client.driver.broker.cluster.set_feature("share.version", 2)
        described = ask(client, ShareGroupDescribeRequest(group_ids=["g"]), 1)
        assert [group.error_code for group in described.groups] == [30]

    def test_a_topic_that_may_not_be_read_is_refused_in_a_fetch(self) -> None:
        """The answer can be written, and has no records."""
        client = alice("Read group g")
        ((row,),) = [
            each.partitions for each in ask(client, share_fetch(client, 0, 0), 1).responses
        ]
        assert (row.partition_index, row.error_code, row.records) == (0, TOPIC, b"")
        assert row.acknowledge_error_code == 0

    def test_what_a_session_remembers_is_judged_with_each_fetch(self) -> None:
        """A right that is taken away counts for partitions that no request names any more, and for
        acknowledgements; the log tells of no records that were handed out."""
        client = alice("Read group g", "Read topic t")
        opened = ask(client, share_fetch(client, 0, 0), 1)
        assert [row.error_code for each in opened.responses for row in each.partitions] == []
        client.driver.security.authorizer = Authorizer(
            [read_acl("User:alice may Read group g")], ["User:bob"]
        )
        ((row,),) = [each.partitions for each in ask(client, share_fetch(client, 1), 1).responses]
        assert (row.error_code, row.records, row.acknowledge_error_code) == (TOPIC, b"", 0)
        taken = ask(client, share_fetch(client, 2, 0, acks=True), 1)
        ((row,),) = [each.partitions for each in taken.responses]
        assert (row.error_code, row.acknowledge_error_code) == (TOPIC, TOPIC)
        assert not any(
            line["type"] in ("RecordsAcquired", "RecordsAcknowledged")
            for line in client.driver.log.events()
        )
        assert ask(client, share_fetch(client, 3, forgets=0), 1).responses == []
