"""The messages of Kafka 4.4.0 and of the releases before it, loaded at first use.

A common API has a module of its own; rare ones share a module with related APIs, such as `acls`.
Owns the way from an API key to its classes. With `ENTRIES` the start-up need not load every
file; a module that it does not name (a new API is one new file) is found by the key that its
classes declare. Does not depend on the fields of messages.
"""

from __future__ import annotations

from importlib import import_module
from typing import Final, NamedTuple

from ..primitives import WireError
from ..schema import Request, Response


class Entry(NamedTuple):
    """The place of an API's messages: its name in the protocol, its module, its first flexible
    version (None: never).
    """

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
    17: Entry("SaslHandshake", "sasl", None),
    18: Entry("ApiVersions", "api_versions", 3),
    19: Entry("CreateTopics", "topics", 5),
    20: Entry("DeleteTopics", "topics", 4),
    21: Entry("DeleteRecords", "topics", 2),
    22: Entry("InitProducerId", "transactions", 2),
    23: Entry("OffsetForLeaderEpoch", "offset_for_leader_epoch", 4),
    24: Entry("AddPartitionsToTxn", "transactions", 3),
    25: Entry("AddOffsetsToTxn", "transactions", 3),
    26: Entry("EndTxn", "transactions", 3),
    27: Entry("WriteTxnMarkers", "transactions", 1),
    28: Entry("TxnOffsetCommit", "transactions", 3),
    29: Entry("DescribeAcls", "acls", 2),
    30: Entry("CreateAcls", "acls", 2),
    31: Entry("DeleteAcls", "acls", 2),
    32: Entry("DescribeConfigs", "describe_configs", 4),
    33: Entry("AlterConfigs", "incremental_alter_configs", 2),
    34: Entry("AlterReplicaLogDirs", "log_dirs", 2),
    35: Entry("DescribeLogDirs", "log_dirs", 2),
    36: Entry("SaslAuthenticate", "sasl", 2),
    37: Entry("CreatePartitions", "topics", 2),
    38: Entry("CreateDelegationToken", "delegation_tokens", 2),
    39: Entry("RenewDelegationToken", "delegation_tokens", 2),
    40: Entry("ExpireDelegationToken", "delegation_tokens", 2),
    41: Entry("DescribeDelegationToken", "delegation_tokens", 2),
    42: Entry("DeleteGroups", "delete_groups", 2),
    43: Entry("ElectLeaders", "reassignments", 2),
    44: Entry("IncrementalAlterConfigs", "incremental_alter_configs", 1),
    45: Entry("AlterPartitionReassignments", "reassignments", 0),
    46: Entry("ListPartitionReassignments", "reassignments", 0),
    47: Entry("OffsetDelete", "offset_delete", None),
    48: Entry("DescribeClientQuotas", "client_quotas", 1),
    49: Entry("AlterClientQuotas", "client_quotas", 1),
    50: Entry("DescribeUserScramCredentials", "scram_credentials", 0),
    51: Entry("AlterUserScramCredentials", "scram_credentials", 0),
    52: Entry("Vote", "quorum", 0),
    53: Entry("BeginQuorumEpoch", "quorum", 1),
    54: Entry("EndQuorumEpoch", "quorum", 1),
    55: Entry("DescribeQuorum", "quorum", 0),
    56: Entry("AlterPartition", "broker_registration", 2),
    57: Entry("UpdateFeatures", "update_features", 0),
    58: Entry("Envelope", "broker_registration", 0),
    59: Entry("FetchSnapshot", "quorum", 0),
    60: Entry("DescribeCluster", "metadata", 0),
    61: Entry("DescribeProducers", "transaction_views", 0),
    62: Entry("BrokerRegistration", "broker_registration", 0),
    63: Entry("BrokerHeartbeat", "broker_registration", 0),
    64: Entry("UnregisterBroker", "broker_registration", 0),
    65: Entry("DescribeTransactions", "transaction_views", 0),
    66: Entry("ListTransactions", "transaction_views", 0),
    67: Entry("AllocateProducerIds", "broker_registration", 0),
    68: Entry("ConsumerGroupHeartbeat", "consumer_group_heartbeat", 0),
    69: Entry("ConsumerGroupDescribe", "consumer_group_describe", 0),
    70: Entry("ControllerRegistration", "broker_registration", 0),
    71: Entry("GetTelemetrySubscriptions", "telemetry", 0),
    72: Entry("PushTelemetry", "telemetry", 0),
    73: Entry("AssignReplicasToDirs", "broker_registration", 0),
    74: Entry("ListConfigResources", "describe_configs", 0),
    75: Entry("DescribeTopicPartitions", "describe_topic_partitions", 0),
    76: Entry("ShareGroupHeartbeat", "share_group_heartbeat", 1),
    77: Entry("ShareGroupDescribe", "share_group_describe", 1),
    78: Entry("ShareFetch", "share_fetch", 1),
    79: Entry("ShareAcknowledge", "share_acknowledge", 1),
    80: Entry("AddRaftVoter", "raft_voters", 0),
    81: Entry("RemoveRaftVoter", "raft_voters", 0),
    82: Entry("UpdateRaftVoter", "raft_voters", 0),
    83: Entry("InitializeShareGroupState", "share_group_states", 0),
    84: Entry("ReadShareGroupState", "share_group_states", 0),
    85: Entry("WriteShareGroupState", "share_group_states", 0),
    86: Entry("DeleteShareGroupState", "share_group_states", 0),
    87: Entry("ReadShareGroupStateSummary", "share_group_states", 0),
    88: Entry("StreamsGroupHeartbeat", "streams_groups", 0),
    89: Entry("StreamsGroupDescribe", "streams_groups", 0),
    90: Entry("DescribeShareGroupOffsets", "share_group_offsets", 0),
    91: Entry("AlterShareGroupOffsets", "share_group_offsets", 0),
    92: Entry("DeleteShareGroupOffsets", "share_group_offsets", 0),
    93: Entry("StreamsGroupTopologyDescriptionUpdate", "streams_groups", 0),
    94: Entry("UnregisterController", "broker_registration", 0),
}

API_KEYS: Final[dict[int, str]] = {key: entry.name for key, entry in ENTRIES.items()}
"""Name by key."""

_requests: dict[int, type[Request]] = {}
_responses: dict[int, type[Response]] = {}


def request_type(key: int) -> type[Request]:
    """Return the request class of an API. Raises `WireError` if there is no such key."""
    return _requests.get(key) or _load(key)[0]


def response_type(key: int) -> type[Response]:
    """Return the response class of an API. Raises `WireError` if there is no such key."""
    return _responses.get(key) or _load(key)[1]


def flexible_version(key: int) -> int | None:
    """Return the first flexible version of an API (KIP-482), None if it has none. Raises
    `WireError` if there is no such key.
    """
    return entry(key).flexible


def entry(key: int) -> Entry:
    """Return the entry of an API. Raises `WireError` if there is none."""
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
    """Return the APIs of the modules that `ENTRIES` does not name. The modules are loaded once."""
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
                    _found[value.api_key] = Entry(
                        value.__name__.removesuffix("Request"), name, flexible
                    )
    return _found
