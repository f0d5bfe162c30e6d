"""Views of groups for DescribeGroups and ListGroups (A.13, A.15). Decides and changes nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from coordinator.base.errors import ErrorCode
from coordinator.wire.messages.describe_groups import DescribedGroup, DescribedGroupMember
from coordinator.wire.messages.list_groups import ListedGroup

from .classic.model import ClassicGroup
from .classic.states import DEAD, STABLE
from .group import Group

#: From this version a missing group is an error, with a text (DSC-1, KIP-1043).
_TELLS_MISSING = 6


def describe(group: Group | None, group_id: str, api_version: int) -> DescribedGroup:
    """Return a group as DescribeGroups shows it; metadata and selected protocol only if Stable
    (DSC-1, DSC-2, DSC-3).
    """
    if (
        group is None
        or not isinstance(group.membership, ClassicGroup)
        or group.membership.is_dead()
    ):
        missing = DescribedGroup(group_id=group_id, group_state=str(DEAD))
        if api_version >= _TELLS_MISSING:
            missing.error_code = ErrorCode.GROUP_ID_NOT_FOUND
            is_other = group is not None and not group.is_classic
            missing.error_message = (
                f"Group {group_id} is not a classic group."
                if is_other
                else f"Group {group_id} not found."
            )
        return missing
    classic = group.membership
    stable = classic.state is STABLE
    return DescribedGroup(
        group_id=group_id,
        group_state=str(classic.state),
        protocol_type=classic.protocol_type or "",
        protocol_data=(classic.protocol_name or "") if stable else "",
        members=[
            DescribedGroupMember(
                member_id=m.member_id,
                group_instance_id=m.group_instance_id,
                client_id=m.client_id,
                client_host=m.client_host,
                member_metadata=m.metadata(classic.protocol_name) if stable else b"",
                member_assignment=m.assignment,
            )
            for m in classic
        ],
    )


def listed(
    groups: Iterable[Group], states: Collection[str], types: Collection[str]
) -> list[ListedGroup]:
    """Return the groups that match both filters, ignoring case, and blanks around states; an empty
    filter matches all (LST-1..LST-3).
    """
    wanted_states = {state.strip().lower() for state in states}
    wanted_types = {kind.lower() for kind in types}
    rows = []
    for group in groups:
        kind, state = group.type, str(group.state)
        if (not wanted_types or kind in wanted_types) and (
            not wanted_states or state.lower() in wanted_states
        ):
            protocol_type = group.membership.protocol_type or ""
            rows.append(
                ListedGroup(
                    group_id=group.group_id,
                    protocol_type=protocol_type,
                    group_state=state,
                    group_type=kind,
                )
            )
    return rows
