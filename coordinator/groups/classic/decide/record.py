"""The group's record: what would be written to __consumer_offsets, and whether writing it works (ERR-2, PST-1)."""

from __future__ import annotations

from collections.abc import Mapping

from ....errors import ErrorCode
from ...append_errors import client_append_error
from ...config import GroupConfig
from ...events import GenerationStored, MemberReplaced, StoredMember
from ...record_size import generation_size
from ..model import ClassicGroup, metadata_of


def generation_record(
    group: ClassicGroup, assignments: Mapping[str, bytes] | None = None, replaced: MemberReplaced | None = None
) -> GenerationStored:
    """The record of the current generation, with these assignments (None: those the members have).

    `replaced` is the static member about to take another's place: it is written under its new id.
    """
    assert group.protocol_type is not None and group.protocol_name is not None
    stored = []
    for m in group:
        assignment = m.assignment if assignments is None else assignments.get(m.member_id, b"")
        row = StoredMember(
            m.member_id,
            m.group_instance_id,
            m.client_id,
            m.client_host,
            m.session_timeout_ms,
            m.rebalance_timeout_ms,
            m.metadata(group.protocol_name),
            assignment,
        )
        if replaced is not None and m.member_id == replaced.replaced:
            row = row._replace(
                member_id=replaced.member_id,
                session_timeout_ms=replaced.session_timeout_ms,
                rebalance_timeout_ms=replaced.rebalance_timeout_ms,
                subscription=metadata_of(replaced.protocols, group.protocol_name),
            )
        stored.append(row)
    leader = group.leader if replaced is None else replaced.leader
    return GenerationStored(group.generation, group.protocol_type, group.protocol_name, leader, tuple(stored))


def append_error(group_id: str, record: GenerationStored, config: GroupConfig) -> ErrorCode:
    """What clients are told if the record cannot be written; NONE if it can."""
    error = config.append_error
    if not error:
        if generation_size(group_id, record) <= config.record_limit():
            return ErrorCode.NONE
        error = ErrorCode.RECORD_LIST_TOO_LARGE
    return client_append_error(error)
