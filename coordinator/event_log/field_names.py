"""The names of fields that a line of the log can have, of any stream. docs/event_log.md says what each means."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

FIELD_NAMES: Final = frozenset((
    "acks", "action", "added", "adding", "api", "assignment", "assignment_epoch", "assignor", "at_ms", "behind", "broker", "by",
    "by_ms", "bytes_per_second", "cause", "changed", "changes", "classic", "client", "client_host", "client_id", "committed", "config",
    "configs", "count", "deadline_ms", "delay_ms", "delay_remaining_ms", "detail", "direction", "durable", "elr", "endpoints",
    "epoch", "epoch_ms", "epochs", "error", "errors", "expire_ms", "extends_delay", "failed", "failure", "fault", "feature", "first",
    "format", "generation", "group", "group_epoch", "group_instance_id", "groups", "held", "how", "isolation", "isr", "key",
    "last_known_elr", "last_offset", "last_producer_epoch", "leader", "leader_epoch", "leader_id", "left", "left_out", "level",
    "listener", "load_ms", "log_end", "lost", "member", "member_epoch", "member_id", "members", "metadata", "metadata_hash", "name",
    "next_producer_id", "offset", "offsets", "one", "other", "parked", "partition", "partition_epoch", "partitions", "peer",
    "previous_member_epoch", "previous_producer_id", "producer_epoch", "producer_id", "product", "protocol_name", "protocol_type",
    "protocols", "rack", "rack_id", "ranges", "reason", "rebalance_timeout_ms", "regex", "removing", "replace", "replaced",
    "replaced_classic", "replicas", "replication", "resource", "restored", "revoking", "run", "seed", "sent", "seq", "sequence",
    "server_assignor",
    "session_timeout_ms", "since_ms", "sources", "started_ms", "state", "step", "stream", "subscribed_topics", "subscription",
    "target", "targets", "text", "timeout_ms", "topic", "topic_id", "topic_regex", "topics", "transactional", "transactional_id",
    "type", "version", "waited_ms", "why",
))  # fmt: skip


def unknown_field(name: str) -> str:
    """Why no line can have a field of this name, and what is meant instead; "" if one can."""
    if name in FIELD_NAMES:
        return ""
    close = get_close_matches(name.lower(), FIELD_NAMES, 3)
    told = f"did you mean {', '.join(close)}?" if close else "docs/event_log.md has all"
    return f"{name!r} is no field of a line: {told}"
