"""Stable names in place of those of groups, members, hosts and files, so that a diagnosis can be
posted. Quoted lines are left out then: they may contain anything."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..stories.story import GroupStory

_ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}")


class Redaction:
    """Replaces names in texts; if it is off, returns texts unchanged."""

    def __init__(self, groups: Mapping[str, GroupStory], *, on: bool) -> None:
        self.on = on
        self.files: dict[str, str] = {}
        self.names: dict[str, str] = {}
        if on:
            self._collect(groups)
        longest = sorted(self.names, key=len, reverse=True)
        self._any = (
            re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
            if longest
            else None
        )

    def _collect(self, groups: Mapping[str, GroupStory]) -> None:
        members: dict[str, None] = {}
        for number, (group, story) in enumerate(groups.items(), start=1):
            if group != "?":
                self.names[group] = f"group-{number}"
            for rebalance in story.rebalances:
                for name in (
                    rebalance.member,
                    rebalance.member_id,
                    rebalance.held_up_by,
                    *rebalance.removed,
                ):
                    members[name or ""] = None
            for event in story.events:
                members[event.member or ""] = members[event.by or ""] = None
            for finding in story.findings:
                members[finding.member or ""] = None
            for state in story.states:
                members.update(dict.fromkeys(state.described.owners))
            for each in story.seen:
                for field in ("member", "client", "instance", "former", "by"):
                    value = getattr(each.fact, field, None)
                    if isinstance(value, str):
                        members[value] = None
        members.pop("", None)
        for number, name in enumerate(members, start=1):
            self.names.setdefault(name, f"member-{number}")

    def text(self, text: str) -> str:
        """Return a text with its names replaced."""
        if not self.on:
            return text
        if self._any is not None:
            text = self._any.sub(lambda found: self.names[found[0]], text)
        return _ADDRESS.sub("host", text)

    def file(self, name: str) -> str:
        """Return the replacement for a file's name."""
        if not self.on:
            return name
        return self.files.setdefault(name, f"file-{len(self.files) + 1}")
