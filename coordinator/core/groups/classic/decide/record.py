"""Record of a classic group in __consumer_offsets, and whether it can be written (ERR-2, PST-1)."""

from __future__ import annotations

from collections.abc import Mapping

from coordinator.base.errors import ErrorCode
from coordinator.events.groups import GenerationStored, MemberReplaced, StoredMember

from ...append_errors import client_append_error
from ...config import GroupConfig
from ...record_size import generation_size
from ..model import ClassicGroup, Member, metadata_of


def generation_record(group: ClassicGroup, assignments: Mapping[str, bytes]) -> GenerationStored:
    """Return the record of the current generation with these assignments."""
    assert group.protocol_type is not None and group.protocol_name is not None
    name = group.protocol_name
    rows = tuple([_row(m, name, assignments.get(m.member_id, b"")) for m in group])
    return GenerationStored(group.generation, group.protocol_type, name, group.leader, rows)


def record_if_replaced(group: ClassicGroup, replaced: MemberReplaced) -> GenerationStored:
    """Return the record of a Stable group in which a static member replaces another."""
    assert group.protocol_type is not None and group.protocol_name is not None
    name = group.protocol_name
    old = group.members[replaced.replaced]
    new = _row(old, name, old.assignment)._replace(
        member_id=replaced.member_id,
        session_timeout_ms=replaced.session_timeout_ms,
        rebalance_timeout_ms=replaced.rebalance_timeout_ms,
        subscription=metadata_of(replaced.protocols, name),
    )
    rows = tuple([new if m is old else m.stored or _row(m, name, m.assignment) for m in group])
    return GenerationStored(group.generation, group.protocol_type, name, replaced.leader, rows)


def _row(member: Member, protocol_name: str, assignment: bytes) -> StoredMember:
    return StoredMember(
        member.member_id,
        member.group_instance_id,
        member.client_id,
        member.client_host,
        member.session_timeout_ms,
        member.rebalance_timeout_ms,
        member.metadata(protocol_name),
        assignment,
    )


def append_error(group_id: str, record: GenerationStored, config: GroupConfig) -> ErrorCode:
    """Return the error for clients if the record cannot be written, else NONE."""
    error = config.append_error
    if not error:
        if generation_size(group_id, record) <= config.record_limit():
            return ErrorCode.NONE
        error = ErrorCode.RECORD_LIST_TOO_LARGE
    return client_append_error(error)
