"""Table of the broker's APIs: one line each, and the version ranges that its release advertises.

Loads an API's message tables and its handler at the first request, so a broker that only
answered ApiVersions has loaded nothing else. A request for an API or version that the release
does not advertise closes the connection (VER-16). Does not depend on what a handler does; the
handlers are in `handlers`, one file an API.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from struct import pack
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages import API_KEYS, request_type

if TYPE_CHECKING:
    from coordinator.base.releases import Release
    from coordinator.wire.schema import Request

    from .broker import Broker
    from .requests.call import Call, Result, Sliced

Handler = Callable[["Broker", "Call"], "Result | Sliced"]
"""A handler does its work at once, or, for a large request, says how it is done in slices."""

API_VERSIONS = 18
FETCH = 1
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
        "share_fetch",
    }
)
"""Requests whose answers wait, unencoded, while there is no room for what clients have not taken
yet (`Broker.output`)."""


class Served(NamedTuple):
    """Name of an API that some release serves, and the module of its handler if that has another
    name.
    """

    name: str
    handler: str = ""
    """The name of the handler's module where several APIs share one."""


_NOT_SERVED = "share_and_streams_groups"
_SHARE_STATE = "share_group_state"

SERVED: dict[int, Served] = {
    0: Served("produce"),
    1: Served("fetch"),
    2: Served("list_offsets"),
    3: Served("metadata"),
    8: Served("offset_commit"),
    9: Served("offset_fetch"),
    10: Served("find_coordinator"),
    11: Served("join_group"),
    12: Served("heartbeat", "classic_groups"),
    13: Served("leave_group", "classic_groups"),
    14: Served("sync_group", "classic_groups"),
    15: Served("describe_groups"),
    16: Served("list_groups", "classic_groups"),
    17: Served("sasl_handshake", "sasl"),
    18: Served("api_versions"),
    19: Served("create_topics"),
    20: Served("delete_topics"),
    21: Served("delete_records"),
    22: Served("init_producer_id", "txn_steps"),
    23: Served("offset_for_leader_epoch"),
    24: Served("add_partitions_to_txn"),
    25: Served("add_offsets_to_txn", "txn_steps"),
    26: Served("end_txn", "txn_steps"),
    27: Served("write_txn_markers"),
    28: Served("txn_offset_commit"),
    29: Served("describe_acls", "acls"),
    30: Served("create_acls", "acls"),
    31: Served("delete_acls", "acls"),
    32: Served("describe_configs"),
    33: Served("alter_configs", "altered_configs"),
    34: Served("alter_replica_log_dirs", "log_dirs"),
    35: Served("describe_log_dirs", "log_dirs"),
    36: Served("sasl_authenticate", "sasl"),
    37: Served("create_partitions"),
    38: Served("create_delegation_token", "delegation_tokens"),
    39: Served("renew_delegation_token", "delegation_tokens"),
    40: Served("expire_delegation_token", "delegation_tokens"),
    41: Served("describe_delegation_token", "delegation_tokens"),
    42: Served("delete_groups", "classic_groups"),
    43: Served("elect_leaders"),
    44: Served("incremental_alter_configs", "altered_configs"),
    45: Served("alter_partition_reassignments", "reassignments"),
    46: Served("list_partition_reassignments", "reassignments"),
    47: Served("offset_delete"),
    48: Served("describe_client_quotas", "client_quotas"),
    49: Served("alter_client_quotas", "client_quotas"),
    50: Served("describe_user_scram_credentials", "scram_credentials"),
    51: Served("alter_user_scram_credentials", "scram_credentials"),
    55: Served("describe_quorum"),
    57: Served("update_features"),
    60: Served("describe_cluster"),
    61: Served("describe_producers", "transaction_views"),
    64: Served("unregister_broker", "unregistering"),
    65: Served("describe_transactions", "transaction_views"),
    66: Served("list_transactions"),
    68: Served("consumer_group_heartbeat"),
    69: Served("consumer_group_describe", "described_groups"),
    74: Served("list_config_resources"),
    75: Served("describe_topic_partitions"),
    76: Served("share_group_heartbeat"),
    77: Served("share_group_describe", "described_groups"),
    78: Served("share_fetch"),
    79: Served("share_acknowledge"),
    80: Served("add_raft_voter"),
    81: Served("remove_raft_voter", "add_raft_voter"),
    83: Served("initialize_share_group_state", _SHARE_STATE),
    84: Served("read_share_group_state", _SHARE_STATE),
    85: Served("write_share_group_state", _SHARE_STATE),
    86: Served("delete_share_group_state", _SHARE_STATE),
    87: Served("read_share_group_state_summary", _SHARE_STATE),
    88: Served("streams_group_heartbeat", _NOT_SERVED),
    89: Served("streams_group_describe", _NOT_SERVED),
    90: Served("describe_share_group_offsets", "share_group_offsets"),
    91: Served("alter_share_group_offsets"),
    92: Served("delete_share_group_offsets", "share_group_offsets"),
    93: Served("streams_group_topology_description_update", _NOT_SERVED),
    94: Served("unregister_controller", "unregistering"),
}


FORWARDED = frozenset(
    {19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 80, 81, 94}
)
"""Requests that brokers hand on to the controller (KIP-590): advertised are the versions that both
have."""


class Api:
    """An API that is loaded: its request decoder, the versions served, and its handler."""

    __slots__ = (
        "decode",
        "flexible",
        "handle",
        "highest",
        "key",
        "limited",
        "lowest",
        "name",
        "request",
    )

    def __init__(
        self, key: int, name: str, request: type[Request], handle: Handler, release: Release
    ) -> None:
        self.key = key
        self.name = name
        self.request = request
        lowest, highest = release.api_versions[key]
        self.lowest = max(lowest, request.versions[0])
        self.highest = min(highest, request.versions[1])
        self.flexible = request.flexible
        self.handle = handle
        self.limited = release.has("V44-7")
        """True if requests with too many elements or tagged fields are refused without being
        decoded."""
        self.decode = request.decode if self.limited else request.decode_unlimited
        """Reads a request, as the release does."""


class Apis(dict[int, "Api | None"]):
    """The APIs of one release by API key, each loaded at first use; None for a key that is not
    served.
    """

    def __init__(self, release: Release) -> None:
        super().__init__()
        self.release = release
        self.ranges = {key: of for key, of in sorted(release.api_versions.items()) if key in SERVED}
        """Lowest and highest version that are advertised, by key."""
        lowest, highest = release.api_versions[API_VERSIONS]
        self.unsupported_version_body = pack(
            ">hihhh", ErrorCode.UNSUPPORTED_VERSION, 1, API_VERSIONS, lowest, highest
        )
        """The answer to ApiVersions of an unknown version, in version 0: UNSUPPORTED_VERSION and one
        entry, that of ApiVersions itself."""

    def advertised(self, controller: Release) -> Iterator[tuple[int, int, int]]:
        """Yield the API key, lowest and highest version of each API to advertise while the
        controller runs the given release: requests that are forwarded to the controller must be
        known to it, too.
        """
        for key, (lowest, highest) in self.ranges.items():
            if key in FORWARDED:
                least, most = controller.api_versions.get(key, (0, -1))
                lowest, highest = max(lowest, least), min(highest, most)
            if lowest <= highest:
                yield key, lowest, highest

    def __missing__(self, key: int) -> Api | None:
        if key not in self.ranges:
            return None
        loaded = self[key] = Api(
            key, SERVED[key].name, request_type(key), handler_of(key), self.release
        )
        return loaded


def handler_of(key: int) -> Handler:
    """Load and return the handler of an API: the function named like the API if its module serves
    several, else the module's `handle`.
    """
    name, module = SERVED[key]
    there = import_module(f"coordinator.server.handlers.{module or name}")
    found: Handler = getattr(there, name if hasattr(there, name) else "handle")
    return found


@cache
def apis_of(release: Release) -> Apis:
    """Return the APIs of a release; brokers of the same release share them."""
    return Apis(release)


def served_by(broker: Broker) -> Apis:
    """Return the APIs that a broker serves. Callers that need them for each request keep the
    result.
    """
    return apis_of(broker.configs.release)


def title(key: int) -> str:
    """Return the protocol's name of an API key, such as JoinGroup, or "API 999" for an unknown key."""
    return API_KEYS.get(key, f"API {key}")
