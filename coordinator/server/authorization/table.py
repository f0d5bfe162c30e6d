"""Rights that each API needs, on which resource, and the error without them: the checks of Kafka's
KafkaApis as one table.

Checks are made in their order; docs/security_apis.md shows the table. `how`: `whole` refuses the
request, `each` the entry, `listed` leaves entries out, `shown` shows the allowed operations
(KIP-430). An API that is not in the table needs no right.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.events.acls import Operation, ResourceType

WHOLE, EACH, LISTED, SHOWN = "whole", "each", "listed", "shown"

TOPIC, GROUP, CLUSTER, TXN, USER, TOKEN = (
    ResourceType.TOPIC,
    ResourceType.GROUP,
    ResourceType.CLUSTER,
    ResourceType.TRANSACTIONAL_ID,
    ResourceType.USER,
    ResourceType.DELEGATION_TOKEN,
)
ERRORS: Final = {
    TOPIC: ErrorCode.TOPIC_AUTHORIZATION_FAILED,
    GROUP: ErrorCode.GROUP_AUTHORIZATION_FAILED,
    CLUSTER: ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
    TXN: ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    USER: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    TOKEN: ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
}


class Check(NamedTuple):
    """One right that an API needs."""

    operation: Operation
    resource: ResourceType
    how: str = WHOLE
    note: str = ""
    """Further remarks for the docs."""

    @property
    def error(self) -> ErrorCode:
        """The error for a user without the right."""
        return ERRORS[self.resource]


_O = Operation
_READ_GROUP = Check(_O.READ, GROUP)
_DESCRIBE_TOPIC = Check(_O.DESCRIBE, TOPIC, EACH)
_DESCRIBE, _ALTER = Check(_O.DESCRIBE, CLUSTER), Check(_O.ALTER, CLUSTER)
_ACTION = Check(_O.CLUSTER_ACTION, CLUSTER)
_WRITE_TXN = Check(_O.WRITE, TXN)

CHECKS: Final[dict[str, tuple[Check, ...]]] = {
    "AddOffsetsToTxn": (_WRITE_TXN, _READ_GROUP),
    "AddPartitionsToTxn": (
        Check(_O.WRITE, TXN, WHOLE, "to v3; later versions are between brokers: ClusterAction, 31"),
        Check(_O.WRITE, TOPIC, EACH, "the allowed ones are then 55"),
    ),
    "AddRaftVoter": (_ALTER,),
    "AlterClientQuotas": (Check(_O.ALTER_CONFIGS, CLUSTER),),
    "AlterConfigs": (
        Check(_O.ALTER_CONFIGS, TOPIC, EACH, "for topics"),
        Check(_O.ALTER_CONFIGS, GROUP, EACH, "for groups"),
        Check(_O.ALTER_CONFIGS, CLUSTER, EACH, "for all else"),
    ),
    "AlterPartitionReassignments": (_ALTER,),
    "AlterReplicaLogDirs": (_ALTER,),
    "AlterShareGroupOffsets": (_READ_GROUP, Check(_O.READ, TOPIC, EACH)),
    "AlterUserScramCredentials": (_ALTER,),
    "ConsumerGroupDescribe": (
        Check(_O.DESCRIBE, GROUP, EACH),
        Check(_O.DESCRIBE, TOPIC, EACH, "the whole group, if a member's topic is hidden"),
    ),
    "ConsumerGroupHeartbeat": (
        _READ_GROUP,
        Check(_O.DESCRIBE, TOPIC, WHOLE, "of every topic that is named"),
    ),
    "CreateAcls": (_ALTER,),
    "CreateDelegationToken": (
        Check(_O.CREATE_TOKENS, USER, WHOLE, "of an owner other than who asks"),
    ),
    "CreatePartitions": (Check(_O.ALTER, TOPIC, EACH),),
    "CreateTopics": (
        Check(_O.CREATE, TOPIC, EACH, "or Create on the cluster"),
        Check(_O.DESCRIBE_CONFIGS, TOPIC, SHOWN, "else topic_config_error_code is 29"),
    ),
    "DeleteAcls": (_ALTER,),
    "DeleteGroups": (Check(_O.DELETE, GROUP, EACH),),
    "DeleteRecords": (Check(_O.DELETE, TOPIC, EACH),),
    "DeleteShareGroupOffsets": (Check(_O.DELETE, GROUP), Check(_O.READ, TOPIC, EACH)),
    "DeleteShareGroupState": (_ACTION,),
    "DeleteTopics": (
        Check(_O.DELETE, TOPIC, EACH, "or Delete on the cluster, by an ACL of All"),
        Check(_O.DESCRIBE, TOPIC, SHOWN, "by id: else the name is null"),
    ),
    "DescribeAcls": (_DESCRIBE,),
    "DescribeClientQuotas": (Check(_O.DESCRIBE_CONFIGS, CLUSTER),),
    "DescribeCluster": (Check(_O.DESCRIBE, CLUSTER, SHOWN, "else no operations are shown"),),
    "DescribeConfigs": (
        Check(_O.DESCRIBE_CONFIGS, TOPIC, EACH, "for topics"),
        Check(_O.DESCRIBE_CONFIGS, GROUP, EACH, "for groups"),
        Check(_O.DESCRIBE_CONFIGS, CLUSTER, EACH, "for all else"),
    ),
    "DescribeDelegationToken": (
        Check(_O.DESCRIBE_TOKENS, USER, LISTED, "of the owner"),
        Check(_O.DESCRIBE, TOKEN, LISTED, "or Describe on the token"),
    ),
    "DescribeGroups": (Check(_O.DESCRIBE, GROUP, EACH),),
    "DescribeLogDirs": (_DESCRIBE,),
    "DescribeProducers": (Check(_O.READ, TOPIC, EACH),),
    "DescribeQuorum": (_DESCRIBE,),
    "DescribeShareGroupOffsets": (Check(_O.DESCRIBE, GROUP, EACH), _DESCRIBE_TOPIC),
    "DescribeTopicPartitions": (_DESCRIBE_TOPIC,),
    "DescribeTransactions": (
        Check(_O.DESCRIBE, TXN, EACH),
        Check(_O.DESCRIBE, TOPIC, LISTED),
    ),
    "DescribeUserScramCredentials": (_DESCRIBE,),
    "ElectLeaders": (_ALTER,),
    "EndTxn": (_WRITE_TXN,),
    "Fetch": (
        Check(_O.READ, TOPIC, EACH),
        Check(_O.CLUSTER_ACTION, CLUSTER, EACH, "of a follower; 29"),
    ),
    "FindCoordinator": (
        Check(_O.DESCRIBE, GROUP, EACH, "for groups"),
        Check(_O.DESCRIBE, TXN, EACH, "for transactional ids"),
        Check(_O.CLUSTER_ACTION, CLUSTER, EACH, "for share partitions"),
    ),
    "Heartbeat": (_READ_GROUP,),
    "IncrementalAlterConfigs": (
        Check(_O.ALTER_CONFIGS, TOPIC, EACH, "for topics"),
        Check(_O.ALTER_CONFIGS, GROUP, EACH, "for groups"),
        Check(_O.ALTER_CONFIGS, CLUSTER, EACH, "for all else"),
    ),
    "InitProducerId": (
        Check(_O.WRITE, TXN, WHOLE, "with a transactional id"),
        Check(_O.IDEMPOTENT_WRITE, CLUSTER, WHOLE, "without one; or Write on any topic"),
    ),
    "InitializeShareGroupState": (_ACTION,),
    "JoinGroup": (_READ_GROUP,),
    "LeaveGroup": (_READ_GROUP,),
    "ListConfigResources": (Check(_O.DESCRIBE_CONFIGS, CLUSTER),),
    "ListGroups": (Check(_O.DESCRIBE, GROUP, LISTED, "or Describe on the cluster"),),
    "ListOffsets": (_DESCRIBE_TOPIC,),
    "ListPartitionReassignments": (_DESCRIBE,),
    "ListTransactions": (Check(_O.DESCRIBE, TXN, LISTED),),
    "Metadata": (
        Check(_O.DESCRIBE, TOPIC, EACH, "of all topics: left out"),
        Check(_O.CREATE, TOPIC, EACH, "of what would be made; or Create on the cluster"),
    ),
    "OffsetCommit": (_READ_GROUP, Check(_O.READ, TOPIC, EACH)),
    "OffsetDelete": (Check(_O.DELETE, GROUP), Check(_O.READ, TOPIC, EACH)),
    "OffsetFetch": (Check(_O.DESCRIBE, GROUP, EACH), _DESCRIBE_TOPIC),
    "OffsetForLeaderEpoch": (Check(_O.DESCRIBE, TOPIC, EACH, "or ClusterAction on the cluster"),),
    "Produce": (_WRITE_TXN, Check(_O.WRITE, TOPIC, EACH)),
    "ReadShareGroupState": (_ACTION,),
    "ReadShareGroupStateSummary": (_ACTION,),
    "RemoveRaftVoter": (_ALTER,),
    "ShareAcknowledge": (_READ_GROUP, Check(_O.READ, TOPIC, EACH)),
    "ShareFetch": (_READ_GROUP, Check(_O.READ, TOPIC, EACH)),
    "ShareGroupDescribe": (
        Check(_O.DESCRIBE, GROUP, EACH),
        Check(_O.DESCRIBE, TOPIC, EACH, "the whole group, if a member's topic is hidden"),
    ),
    "ShareGroupHeartbeat": (
        _READ_GROUP,
        Check(_O.DESCRIBE, TOPIC, WHOLE, "of every topic that is named"),
    ),
    "SyncGroup": (_READ_GROUP,),
    "TxnOffsetCommit": (_WRITE_TXN, _READ_GROUP, Check(_O.READ, TOPIC, EACH)),
    "UnregisterBroker": (_ALTER,),
    "UnregisterController": (_ALTER,),
    "UpdateFeatures": (_ALTER,),
    "WriteShareGroupState": (_ACTION,),
    "WriteTxnMarkers": (Check(_O.CLUSTER_ACTION, CLUSTER, WHOLE, "or Alter on the cluster"),),
}
