"""What the broker serves: one line an API, exactly the version ranges that Kafka 4.3.1 advertises
for it.

Owns the table and the loading of an API's message tables and handler at its first request: a broker
that was only asked ApiVersions has loaded nothing else. Rule: what is not in the table is not
advertised, and a request for it closes the connection (VER-16). Does not depend on what a handler
does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ..wire.messages import API_KEYS, request_type

if TYPE_CHECKING:
    from ..wire.schema import Request
    from .call import Call, Result, Sliced
    from .core import Broker

Handler = Callable[["Broker", "Call"], "Result | Sliced"]
"""A handler does its work at once, or, for a large request, says how it is done in slices."""

API_VERSIONS = 18
UNSUPPORTED_VERSION_BODY = bytes.fromhex("0023 00000001 0012 0000 0004")
"""The answer to ApiVersions of an unknown version, in version 0: UNSUPPORTED_VERSION and one entry,
ApiVersions 0 to 4."""
MAY_BE_LARGE = frozenset(
    {
        "describe_client_quotas",
        "describe_configs",
        "describe_groups",
        "describe_log_dirs",
        "describe_producers",
        "describe_topic_partitions",
        "describe_transactions",
        "describe_user_scram_credentials",
        "fetch",
        "join_group",
        "list_groups",
        "list_offsets",
        "list_transactions",
        "metadata",
        "offset_fetch",
        "offset_for_leader_epoch",
    }
)
"""Requests whose answers wait, unencoded, while there is no room for what clients have not taken
yet (`Broker.output`)."""


class ApiRange(NamedTuple):
    """An advertised API: the name of its message tables' module and, unless another is named, of
    its handler's; lowest, highest version."""

    name: str
    lowest: int
    highest: int
    handler: str = ""
    """The name of the handler's module where several APIs share one."""


_NOT_SERVED = "share_and_streams_groups"

SERVED: dict[int, ApiRange] = {
    0: ApiRange(
        "produce", 0, 13
    ),  # 0-2 are advertised for librdkafka's sake, as Kafka does, and close the connection
    1: ApiRange("fetch", 4, 18),
    2: ApiRange("list_offsets", 1, 11),
    3: ApiRange("metadata", 0, 13),
    8: ApiRange("offset_commit", 2, 10),
    9: ApiRange("offset_fetch", 1, 10),
    10: ApiRange("find_coordinator", 0, 6),
    11: ApiRange("join_group", 0, 9),
    12: ApiRange("heartbeat", 0, 4),
    13: ApiRange("leave_group", 0, 5),
    14: ApiRange("sync_group", 0, 5),
    15: ApiRange("describe_groups", 0, 6),
    16: ApiRange("list_groups", 0, 5),
    17: ApiRange("sasl_handshake", 0, 1),
    18: ApiRange("api_versions", 0, 4),
    19: ApiRange("create_topics", 2, 7),
    20: ApiRange("delete_topics", 1, 6),
    21: ApiRange("delete_records", 0, 2),
    22: ApiRange("init_producer_id", 0, 5),
    23: ApiRange("offset_for_leader_epoch", 2, 4),
    24: ApiRange("add_partitions_to_txn", 0, 5),
    25: ApiRange("add_offsets_to_txn", 0, 4),
    26: ApiRange("end_txn", 0, 5),
    27: ApiRange("write_txn_markers", 1, 2),
    28: ApiRange("txn_offset_commit", 0, 5),
    29: ApiRange("describe_acls", 1, 3),
    30: ApiRange("create_acls", 1, 3),
    31: ApiRange("delete_acls", 1, 3),
    32: ApiRange("describe_configs", 1, 4),
    33: ApiRange("alter_configs", 0, 2),
    34: ApiRange("alter_replica_log_dirs", 1, 2),
    35: ApiRange("describe_log_dirs", 1, 5),
    36: ApiRange("sasl_authenticate", 0, 2),
    37: ApiRange("create_partitions", 0, 3),
    38: ApiRange("create_delegation_token", 1, 3),
    39: ApiRange("renew_delegation_token", 1, 2),
    40: ApiRange("expire_delegation_token", 1, 2),
    41: ApiRange("describe_delegation_token", 1, 3),
    42: ApiRange("delete_groups", 0, 2),
    43: ApiRange("elect_leaders", 0, 2),
    44: ApiRange("incremental_alter_configs", 0, 1),
    45: ApiRange("alter_partition_reassignments", 0, 1),
    46: ApiRange("list_partition_reassignments", 0, 0),
    47: ApiRange("offset_delete", 0, 0),
    48: ApiRange("describe_client_quotas", 0, 1),
    49: ApiRange("alter_client_quotas", 0, 1),
    50: ApiRange("describe_user_scram_credentials", 0, 0),
    51: ApiRange("alter_user_scram_credentials", 0, 0),
    55: ApiRange("describe_quorum", 0, 2),
    57: ApiRange("update_features", 0, 2),
    60: ApiRange("describe_cluster", 0, 2),
    61: ApiRange("describe_producers", 0, 0),
    64: ApiRange("unregister_broker", 0, 0),
    65: ApiRange("describe_transactions", 0, 0),
    66: ApiRange("list_transactions", 0, 2),
    68: ApiRange("consumer_group_heartbeat", 0, 1),
    69: ApiRange("consumer_group_describe", 0, 1),
    74: ApiRange("list_config_resources", 0, 1),
    75: ApiRange("describe_topic_partitions", 0, 0),
    76: ApiRange("share_group_heartbeat", 1, 1, _NOT_SERVED),
    77: ApiRange("share_group_describe", 1, 1, _NOT_SERVED),
    78: ApiRange("share_fetch", 1, 2, _NOT_SERVED),
    79: ApiRange("share_acknowledge", 1, 2, _NOT_SERVED),
    80: ApiRange("add_raft_voter", 0, 1),
    81: ApiRange("remove_raft_voter", 0, 0, "add_raft_voter"),
    83: ApiRange("initialize_share_group_state", 0, 0, _NOT_SERVED),
    84: ApiRange("read_share_group_state", 0, 0, _NOT_SERVED),
    85: ApiRange("write_share_group_state", 0, 1, _NOT_SERVED),
    86: ApiRange("delete_share_group_state", 0, 0, _NOT_SERVED),
    87: ApiRange("read_share_group_state_summary", 0, 1, _NOT_SERVED),
    88: ApiRange("streams_group_heartbeat", 0, 0, _NOT_SERVED),
    89: ApiRange("streams_group_describe", 0, 0, _NOT_SERVED),
    90: ApiRange("describe_share_group_offsets", 0, 1, _NOT_SERVED),
    91: ApiRange("alter_share_group_offsets", 0, 0, _NOT_SERVED),
    92: ApiRange("delete_share_group_offsets", 0, 0, _NOT_SERVED),
}


class Api:
    """An API ready to serve: its request table, the versions there are tables for, its handler."""

    __slots__ = ("flexible", "handle", "highest", "key", "lowest", "name", "request")

    def __init__(self, key: int, name: str, request: type[Request], handle: Handler) -> None:
        self.key = key
        self.name = name
        self.request = request
        self.lowest, self.highest = request.versions
        self.flexible = request.flexible
        self.handle = handle


_loaded: dict[int, Api] = {}


def api(key: int) -> Api | None:
    """The API of a key, loaded at first use; None if it is not served."""
    loaded = _loaded.get(key)
    if loaded is None and key in SERVED:
        name, _, _, module = SERVED[key]
        handle: Handler = import_module(f"coordinator.broker.handlers.{module or name}").handle
        loaded = _loaded[key] = Api(key, name, request_type(key), handle)
    return loaded


def title(key: int) -> str:
    """The protocol's name of an API, such as JoinGroup; "API 999" for a key that is none."""
    return API_KEYS.get(key, f"API {key}")
