"""What the broker serves: one line an API, exactly the version ranges that Kafka 4.3.1 advertises for it.

Owns the table and the loading of an API's message tables and handler at its first request: a broker that was only asked
ApiVersions has loaded nothing else. Rule: what is not in the table is not advertised, and a request for it closes the
connection (VER-16). Refuses to know what a handler does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from ..wire.messages import API_KEYS, request_type

if TYPE_CHECKING:
    from ..wire.schema import Request
    from .core import Broker, Call, Result

Handler = Callable[["Broker", "Call"], "Result"]

API_VERSIONS = 18


class ApiRange(NamedTuple):
    """An advertised API: the name of its module, lowest and highest version."""

    name: str
    lowest: int
    highest: int


SERVED: dict[int, ApiRange] = {
    0: ApiRange("produce", 0, 13),  # 0-2 are advertised for librdkafka's sake, as Kafka does, and close the connection
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
    74: ApiRange("list_config_resources", 0, 1),
    75: ApiRange("describe_topic_partitions", 0, 0),
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
        name = SERVED[key].name
        handle: Handler = import_module(f"coordinator.broker.handlers.{name}").handle
        loaded = _loaded[key] = Api(key, name, request_type(key), handle)
    return loaded


def title(key: int) -> str:
    """The protocol's name of an API, such as JoinGroup; "API 999" for a key that is none."""
    return API_KEYS.get(key, f"API {key}")
