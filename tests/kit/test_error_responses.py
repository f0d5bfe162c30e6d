"""An injected error stands where Kafka's own would, in every version of every API that is
served."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.base.errors import ErrorCode
from coordinator.server.apis import SERVED
from coordinator.server.fetching.errors import refuse_fetch
from coordinator.server.requests.error_places import Whole, error_places
from coordinator.server.requests.refusals import Place, refuse
from coordinator.wire.messages import API_KEYS, request_type, response_type
from coordinator.wire.messages.acls import (
    AclCreation,
    CreateAclsRequest,
    DeleteAclsFilter,
    DeleteAclsRequest,
)
from coordinator.wire.messages.client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
)
from coordinator.wire.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from coordinator.wire.messages.fetch import (
    FetchableTopicResponse,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.leave_group import LeaveGroupRequest, MemberIdentity
from coordinator.wire.messages.log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from coordinator.wire.messages.metadata import (
    MetadataRequest,
    MetadataResponse,
    MetadataResponsePartition,
    MetadataResponseTopic,
)
from coordinator.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from coordinator.wire.messages.offset_fetch import OffsetFetchRequest, OffsetFetchRequestTopic
from coordinator.wire.messages.reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from coordinator.wire.messages.scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from coordinator.wire.messages.share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from coordinator.wire.schema import Request

_E = ErrorCode
_ALL = lambda place: True  # noqa: E731
_FAILS_IN_ROWS = {
    "AlterReplicaLogDirs",
    "AlterUserScramCredentials",
    "DescribeTopicPartitions",
}
_ONE_TOPIC = OffsetFetchRequest(
    group_id="g", topics=[OffsetFetchRequestTopic(name="a", partition_indexes=[0])]
)


def _errors(value: Any) -> list[int]:
    """Every error code in an answer."""
    found = []
    for field in type(value).fields:
        item = getattr(value, field.name)
        if field.name in ("error_code", "partition_error_code"):
            found.append(item)
        elif isinstance(item, list):
            found += [
                code for entry in item if hasattr(type(entry), "fields") for code in _errors(entry)
            ]
    return found


def _commit(*topics: tuple[str, list[int]]) -> OffsetCommitRequest:
    return OffsetCommitRequest(
        group_id="g",
        topics=[
            OffsetCommitRequestTopic(
                name=name,
                partitions=[OffsetCommitRequestPartition(partition_index=i) for i in indexes],
            )
            for name, indexes in topics
        ],
    )


@pytest.mark.parametrize("key", list(SERVED))
def test_a_request_that_fails_as_a_whole_is_answered_in_every_version(key: int) -> None:
    api, kind = API_KEYS[key], request_type(key)
    lowest, highest = kind.versions
    for version in range(lowest, highest + 1):
        message: Request = _ONE_TOPIC if api == "OffsetFetch" and version < 8 else kind()
        try:
            refusal = refuse(message, version, _E.GROUP_AUTHORIZATION_FAILED, _ALL)
        except ValueError:
            return  # an API whose answer has no place for an error says so
        if refusal is None or refusal.rest is not None or api in _FAILS_IN_ROWS:
            continue  # an empty list: there is nothing that could fail
        answer = refusal.complete(None)
        body = answer.encode(version)
        assert _E.GROUP_AUTHORIZATION_FAILED in _errors(response_type(key).decode(version, body)), (
            api,
            version,
        )


@pytest.mark.parametrize(
    ("request_", "errors"),
    [
        (CreateAclsRequest(creations=[AclCreation(), AclCreation()]), [29, 29]),
        (DeleteAclsRequest(filters=[DeleteAclsFilter()]), [29]),
        (AlterClientQuotasRequest(entries=[AlterClientQuotasRequestEntryData()]), [29]),
        (
            AlterUserScramCredentialsRequest(
                deletions=[ScramCredentialDeletion(name="ann")],
                upsertions=[
                    ScramCredentialUpsertion(name="ann"),
                    ScramCredentialUpsertion(name="bob"),
                ],
            ),
            [29, 29],
        ),
        (
            AlterReplicaLogDirsRequest(
                dirs=[
                    AlterReplicaLogDir(
                        topics=[AlterReplicaLogDirTopic(name="a", partitions=[0, 1])]
                    )
                ]
            ),
            [29, 29],
        ),
        (
            AlterPartitionReassignmentsRequest(
                topics=[ReassignableTopic(name="a", partitions=[ReassignablePartition()])]
            ),
            [29, 29],
        ),
        (DescribeTopicPartitionsRequest(topics=[TopicRequest(name="a")]), [29]),
        (
            DescribeShareGroupOffsetsRequest(
                groups=[DescribeShareGroupOffsetsRequestGroup(group_id="g")]
            ),
            [29],
        ),
    ],
)
def test_requests_of_administrators_fail_in_each_row(request_: Request, errors: list[int]) -> None:
    refusal = refuse(request_, request_.versions[1], _E.TOPIC_AUTHORIZATION_FAILED, _ALL)
    assert refusal is not None
    assert refusal.rest is None
    assert _errors(refusal.complete(None)) == errors


def test_every_api_has_a_place_for_an_error() -> None:
    """A new API has one as soon as it has message tables; `refusals` and `fetching.errors` make the
    answers of these themselves."""
    nowhere = {
        API_KEYS[key]
        for key in SERVED
        if error_places(request_type(key), request_type(key).versions[1]).whole is Whole.NOWHERE
    }
    assert nowhere == {"AlterUserScramCredentials", "Metadata"}


def test_one_partition_fails_and_the_others_are_served_in_the_order_of_the_request() -> None:
    request = _commit(("a", [0, 1]), ("b", [0]), ("c", [5, 6]))
    failing = {("a", 1), ("b", 0), ("c", 5)}
    refusal = refuse(
        request,
        9,
        _E.UNKNOWN_TOPIC_OR_PARTITION,
        lambda p: (p.topic, p.partition) in failing,
    )
    assert refusal is not None
    assert isinstance(refusal.rest, OffsetCommitRequest)
    asked = [
        (topic.name, [row.partition_index for row in topic.partitions])
        for topic in refusal.rest.topics
    ]
    assert asked == [("a", [0]), ("c", [6])]
    assert refusal.rest.group_id == "g"
    served = OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=name,
                partitions=[OffsetCommitResponsePartition(partition_index=i) for i in indexes],
            )
            for name, indexes in asked
        ]
    )
    answer: Any = refusal.complete(served)
    rows = [
        (topic.name, row.partition_index, row.error_code)
        for topic in answer.topics
        for row in topic.partitions
    ]
    assert rows == [("a", 0, 0), ("a", 1, 3), ("b", 0, 3), ("c", 5, 3), ("c", 6, 0)]


def test_a_request_without_a_chosen_item_is_left_alone() -> None:
    assert (
        refuse(
            _commit(("a", [0])),
            9,
            _E.UNKNOWN_TOPIC_OR_PARTITION,
            lambda p: p.topic == "b",
        )
        is None
    )


def test_a_group_error_stands_in_every_partition_of_a_commit() -> None:
    refusal = refuse(
        _commit(("a", [0, 1])),
        8,
        _E.REBALANCE_IN_PROGRESS,
        lambda p: p.group == "g",
    )
    assert refusal is not None
    assert refusal.rest is None
    assert _errors(refusal.complete(None)) == [27, 27]


def test_a_refused_join_names_the_member_and_no_generation() -> None:
    request = JoinGroupRequest(group_id="g", member_id="m")
    for version, protocol in ((4, ""), (9, None)):
        refusal = refuse(request, version, _E.COORDINATOR_NOT_AVAILABLE, _ALL)
        assert refusal is not None
        answer: Any = refusal.complete(None)
        assert (
            answer.error_code,
            answer.member_id,
            answer.generation_id,
            answer.protocol_name,
        ) == (15, "m", -1, protocol)


def test_a_member_error_of_leave_group_stands_beside_the_member() -> None:
    request = LeaveGroupRequest(group_id="g", members=[MemberIdentity(member_id="m")])
    beside = refuse(request, 4, _E.UNKNOWN_MEMBER_ID, _ALL)
    on_top = refuse(request, 4, _E.NOT_COORDINATOR, _ALL)
    assert beside is not None
    assert on_top is not None
    answer: Any = beside.complete(None)
    assert (answer.error_code, [(m.member_id, m.error_code) for m in answer.members]) == (
        0,
        [("m", 25)],
    )
    assert _errors(on_top.complete(None)) == [16]


def test_metadata_tells_of_brokers_and_fails_for_the_topic_alone() -> None:
    refusal = refuse(
        MetadataRequest(topics=None),
        9,
        _E.TOPIC_AUTHORIZATION_FAILED,
        lambda p: p.topic == "b",
    )
    assert refusal is not None
    assert refusal.rest is not None
    served = MetadataResponse(
        topics=[
            MetadataResponseTopic(name=name, partitions=[MetadataResponsePartition()])
            for name in ("a", "b")
        ]
    )
    answer: Any = refusal.complete(served)
    assert [(topic.name, topic.error_code, len(topic.partitions)) for topic in answer.topics] == [
        ("a", 0, 1),
        ("b", 29, 0),
    ]


def test_a_fetch_of_a_failed_partition_has_no_records_and_the_session_goes_on() -> None:
    request = FetchRequest(session_id=5, session_epoch=3, max_wait_ms=500)
    reads = [Place("a", None, 0), Place("a", None, 1), Place("b", None, 0)]
    refusal = refuse_fetch(
        request, 12, _E.NOT_LEADER_OR_FOLLOWER, lambda place: place.topic == "a", reads
    )
    assert refusal is not None
    assert isinstance(refusal.rest, FetchRequest)
    assert (refusal.rest.session_epoch, refusal.rest.max_wait_ms) == (3, 0)
    data = [PartitionData(partition_index=0, high_watermark=9, records=b"x")]
    answer: Any = refusal.complete(
        FetchResponse(
            session_id=5,
            responses=[
                FetchableTopicResponse(topic="a", partitions=list(data)),
                FetchableTopicResponse(topic="b", partitions=list(data)),
            ],
        )
    )
    rows = [
        (topic.topic, row.partition_index, row.error_code, row.records)
        for topic in answer.responses
        for row in topic.partitions
    ]
    assert rows == [("a", 0, 6, b""), ("a", 1, 6, b""), ("b", 0, 0, b"x")]


def test_places_tell_topics_by_id_from_topics_by_name() -> None:
    seen: list[Place] = []

    def look(place: Place) -> bool:
        seen.append(place)
        return False

    refuse(
        OffsetCommitRequest(
            group_id="g",
            topics=[
                OffsetCommitRequestTopic(
                    topic_id=b"\1" * 16,
                    partitions=[OffsetCommitRequestPartition(partition_index=3)],
                )
            ],
        ),
        10,
        _E.UNKNOWN_TOPIC_ID,
        look,
    )
    assert seen == [Place(None, b"\1" * 16, 3, "g")]
