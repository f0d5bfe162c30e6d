"""Admin views and the end of groups (A.13, A.15, A.16)."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ...errors import ErrorCode
from ...wire.messages.describe_groups import DescribedGroup, DescribedGroupMember
from ...wire.messages.list_groups import ListedGroup
from ..model import Group
from ..states import DEAD, EMPTY, STABLE

#: From this version a missing group is an error, with a text (DSC-1, KIP-1043).
_TELLS_MISSING = 6


def describe(group: Group | None, group_id: str, api_version: int) -> DescribedGroup:
    """A group as DescribeGroups shows it; metadata and chosen protocol only when Stable (DSC-1, DSC-2, DSC-3)."""
    if group is None or group.state is DEAD:
        missing = DescribedGroup(group_id=group_id, group_state=str(DEAD))
        if api_version >= _TELLS_MISSING:
            missing.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            missing.error_message = f"Group {group_id} not found."
        return missing
    stable = group.state is STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=str(group.state),
        protocol_type=group.protocol_type or "",
        protocol_data=(group.protocol_name or "") if stable else "",
        members=[
            DescribedGroupMember(
                member_id=m.member_id,
                group_instance_id=m.group_instance_id,
                client_id=m.client_id,
                client_host=m.client_host,
                member_metadata=m.metadata(group.protocol_name) if stable else b"",
                member_assignment=m.assignment,
            )
            for m in group
        ],
    )


def listed(groups: Iterable[Group], states: Collection[str], types: Collection[str]) -> list[ListedGroup]:
    """The groups that match both filters, which ignore case, and blanks around states; an empty filter matches all (LST-1..LST-3)."""
    wanted_states = {state.strip().lower() for state in states}
    wanted_types = {kind.lower() for kind in types}
    if wanted_types and "classic" not in wanted_types:
        return []
    return [
        ListedGroup(group_id=g.group_id, protocol_type=g.protocol_type or "", group_state=str(g.state), group_type="classic")
        for g in groups
        if not wanted_states or str(g.state).lower() in wanted_states
    ]


def refuse_delete(group: Group | None) -> ErrorCode:
    """Only an Empty group may be deleted; pending members do not count (DG-1, DG-3)."""
    if group is None or group.state is DEAD:
        return ErrorCode.GROUP_ID_NOT_FOUND
    return ErrorCode.NONE if group.state is EMPTY else ErrorCode.NON_EMPTY_GROUP
