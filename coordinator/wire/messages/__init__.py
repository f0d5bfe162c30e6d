"""The messages of Kafka 4.4.0 and of the releases before it, one module an API, each loaded when it is first asked for.

Owns the way from an API key to its classes. `ENTRIES` spares the start-up a look at 91 files; a
module it does not name (a new API is one new file) is found by the `KEY` it declares. Does not
depend on the fields of messages.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final, NamedTuple

from coordinator.wire.primitives import WireError
from coordinator.wire.schema import Request, Response


class Entry(NamedTuple):
    """Where an API's messages are: name as in the protocol, module, first flexible version (None:
    never)."""

    name: str
    module: str
    flexible: int | None


ENTRIES: Final[dict[int, Entry]] = {
    0: Entry("Produce", "produce", 9),
    1: Entry("Fetch", "fetch", 12),
    2: Entry("ListOffsets", "list_offsets", 6),
    3: Entry("Metadata", "metadata", 9),
    8: Entry("OffsetCommit", "offset_commit", 8),
    9: Entry("OffsetFetch", "offset_fetch", 6),
    10: Entry("FindCoordinator", "find_coordinator", 3),
    11: Entry("JoinGroup", "join_group", 6),
    12: Entry("Heartbeat", "heartbeat", 4),
    13: Entry("LeaveGroup", "leave_group", 4),
    14: Entry("SyncGroup", "sync_group", 4),
    15: Entry("DescribeGroups", "describe_groups", 5),
    16: Entry("ListGroups", "list_groups", 3),
    17: Entry("SaslHandshake", "sasl_handshake", None),
    18: Entry("ApiVersions", "api_versions", 3),
    19: Entry("CreateTopics", "create_topics", 5),
    20: Entry("DeleteTopics", "delete_topics", 4),
    21: Entry("DeleteRecords", "delete_records", 2),
    22: Entry("InitProducerId", "init_producer_id", 2),
    23: Entry("OffsetForLeaderEpoch", "offset_for_leader_epoch", 4),
    24: Entry("AddPartitionsToTxn", "add_partitions_to_txn", 3),
    25: Entry("AddOffsetsToTxn", "add_offsets_to_txn", 3),
    26: Entry("EndTxn", "end_txn", 3),
    27: Entry("WriteTxnMarkers", "write_txn_markers", 1),
    28: Entry("TxnOffsetCommit", "txn_offset_commit", 3),
    29: Entry("DescribeAcls", "describe_acls", 2),
    30: Entry("CreateAcls", "create_acls", 2),
    31: Entry("DeleteAcls", "delete_acls", 2),
    32: Entry("DescribeConfigs", "describe_configs", 4),
    33: Entry("AlterConfigs", "alter_configs", 2),
    34: Entry("AlterReplicaLogDirs", "alter_replica_log_dirs", 2),
    35: Entry("DescribeLogDirs", "describe_log_dirs", 2),
    36: Entry("SaslAuthenticate", "sasl_authenticate", 2),
    37: Entry("CreatePartitions", "create_partitions", 2),
    38: Entry("CreateDelegationToken", "create_delegation_token", 2),
    39: Entry("RenewDelegationToken", "renew_delegation_token", 2),
    40: Entry("ExpireDelegationToken", "expire_delegation_token", 2),
    41: Entry("DescribeDelegationToken", "describe_delegation_token", 2),
    42: Entry("DeleteGroups", "delete_groups", 2),
    43: Entry("ElectLeaders", "elect_leaders", 2),
    44: Entry("IncrementalAlterConfigs", "incremental_alter_configs", 1),
    45: Entry("AlterPartitionReassignments", "alter_partition_reassignments", 0),
    46: Entry("ListPartitionReassignments", "list_partition_reassignments", 0),
    47: Entry("OffsetDelete", "offset_delete", None),
    48: Entry("DescribeClientQuotas", "describe_client_quotas", 1),
    49: Entry("AlterClientQuotas", "alter_client_quotas", 1),
    50: Entry("DescribeUserScramCredentials", "describe_user_scram_credentials", 0),
    51: Entry("AlterUserScramCredentials", "alter_user_scram_credentials", 0),
    52: Entry("Vote", "vote", 0),
    53: Entry("BeginQuorumEpoch", "begin_quorum_epoch", 1),
    54: Entry("EndQuorumEpoch", "end_quorum_epoch", 1),
    55: Entry("DescribeQuorum", "describe_quorum", 0),
    56: Entry("AlterPartition", "alter_partition", 2),
    57: Entry("UpdateFeatures", "update_features", 0),
    58: Entry("Envelope", "envelope", 0),
    59: Entry("FetchSnapshot", "fetch_snapshot", 0),
    60: Entry("DescribeCluster", "describe_cluster", 0),
    61: Entry("DescribeProducers", "describe_producers", 0),
    62: Entry("BrokerRegistration", "broker_registration", 0),
    63: Entry("BrokerHeartbeat", "broker_heartbeat", 0),
    64: Entry("UnregisterBroker", "unregister_broker", 0),
    65: Entry("DescribeTransactions", "describe_transactions", 0),
    66: Entry("ListTransactions", "list_transactions", 0),
    67: Entry("AllocateProducerIds", "allocate_producer_ids", 0),
    68: Entry("ConsumerGroupHeartbeat", "consumer_group_heartbeat", 0),
    69: Entry("ConsumerGroupDescribe", "consumer_group_describe", 0),
    70: Entry("ControllerRegistration", "controller_registration", 0),
    71: Entry("GetTelemetrySubscriptions", "get_telemetry_subscriptions", 0),
    72: Entry("PushTelemetry", "push_telemetry", 0),
    73: Entry("AssignReplicasToDirs", "assign_replicas_to_dirs", 0),
    74: Entry("ListConfigResources", "list_config_resources", 0),
    75: Entry("DescribeTopicPartitions", "describe_topic_partitions", 0),
    76: Entry("ShareGroupHeartbeat", "share_group_heartbeat", 1),
    77: Entry("ShareGroupDescribe", "share_group_describe", 1),
    78: Entry("ShareFetch", "share_fetch", 1),
    79: Entry("ShareAcknowledge", "share_acknowledge", 1),
    80: Entry("AddRaftVoter", "add_raft_voter", 0),
    81: Entry("RemoveRaftVoter", "remove_raft_voter", 0),
    82: Entry("UpdateRaftVoter", "update_raft_voter", 0),
    83: Entry("InitializeShareGroupState", "initialize_share_group_state", 0),
    84: Entry("ReadShareGroupState", "read_share_group_state", 0),
    85: Entry("WriteShareGroupState", "write_share_group_state", 0),
    86: Entry("DeleteShareGroupState", "delete_share_group_state", 0),
    87: Entry("ReadShareGroupStateSummary", "read_share_group_state_summary", 0),
    88: Entry("StreamsGroupHeartbeat", "streams_group_heartbeat", 0),
    89: Entry("StreamsGroupDescribe", "streams_group_describe", 0),
    90: Entry("DescribeShareGroupOffsets", "describe_share_group_offsets", 0),
    91: Entry("AlterShareGroupOffsets", "alter_share_group_offsets", 0),
    92: Entry("DeleteShareGroupOffsets", "delete_share_group_offsets", 0),
    93: Entry(
        "StreamsGroupTopologyDescriptionUpdate", "streams_group_topology_description_update", 0
    ),
    94: Entry("UnregisterController", "unregister_controller", 0),
}

API_KEYS: Final[dict[int, str]] = {key: entry.name for key, entry in ENTRIES.items()}
"""Name by key."""

_requests: dict[int, type[Request]] = {}
_responses: dict[int, type[Response]] = {}


def request_type(key: int) -> type[Request]:
    """The request class of an API. Raises `WireError` if there is no such key."""
    return _requests.get(key) or _load(key)[0]


def response_type(key: int) -> type[Response]:
    """The response class of an API. Raises `WireError` if there is no such key."""
    return _responses.get(key) or _load(key)[1]


def flexible_version(key: int) -> int | None:
    """The first flexible version of an API (KIP-482), None if it has none. Raises `WireError` if
    there is no such key."""
    return entry(key).flexible


def entry(key: int) -> Entry:
    """The API of a key. Raises `WireError` if there is none."""
    found = ENTRIES.get(key) or _unlisted().get(key)
    if found is None:
        raise WireError(f"there is no API with key {key}")
    return found


def _load(key: int) -> tuple[type[Request], type[Response]]:
    found = entry(key)
    module = import_module(f"{__name__}.{found.module}")
    request: type[Request] = getattr(module, f"{found.name}Request")
    response: type[Response] = getattr(module, f"{found.name}Response")
    _requests[key], _responses[key] = request, response
    return request, response


_found: dict[int, Entry] | None = None


def _unlisted() -> dict[int, Entry]:
    """The APIs of the modules that `ENTRIES` does not name. Looks once."""
    global _found
    if _found is None:
        from pkgutil import iter_modules

        _found = {}
        for name in {module.name for module in iter_modules(__path__)} - {
            listed.module for listed in ENTRIES.values()
        }:
            module = import_module(f"{__name__}.{name}")
            for value in vars(module).values():
                if isinstance(value, type) and issubclass(value, Request) and value is not Request:
                    flexible = value.flexible if value.flexible <= value.versions[1] else None
                    _found[module.KEY] = Entry(
                        value.__name__.removesuffix("Request"), name, flexible
                    )
    return _found
