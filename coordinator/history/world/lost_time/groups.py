"""The processes of one group, found by member id or client id, and its partitions.

Does not read the log: `fold` calls it.
"""

from __future__ import annotations

from coordinator.events.line import Line

from ..views import GroupView
from .partitions import Partitions
from .processes import Key, Process


class GroupActivity:
    """What became of one group's processes and partitions."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.processes: list[Process] = []
        self.partitions = Partitions()
        self._by_client: dict[str, Process] = {}
        self._of_client: dict[str, list[Process]] = {}
        self._by_member: dict[str, Process] = {}

    def of_client(self, client: str, at_ms: int) -> Process:
        """Return the process of a client that logs its own lines."""
        process = self._by_client.get(client)
        if process is None:
            process = self._by_client[client] = self._new(client, at_ms)
        return process

    def of_member(self, member_id: str, name: str, client: str, at_ms: int) -> Process:
        """Return the process of a member id: its client's, if that logs its own lines, else one
        of its own."""
        process = self._by_member.get(member_id)
        if process is None:
            process = self._by_client.get(client) or self._new(name, at_ms, client)
            self._by_member[member_id] = process
        return process

    def done_to(self, client: str, group: str | None) -> Process | None:
        """Return the process that a fault concerns: that of a client which logs its own lines,
        else the only member of the group with this client id. `group`: the fault's, or None."""
        if client in self._by_client:
            return self._by_client[client]
        if group not in (None, self.name):
            return None
        there = [each for each in self._of_client.get(client, ()) if each.in_group]
        return there[0] if len(there) == 1 else None

    def of_id(self, member_id: str) -> Process | None:
        """Return the process of a member id, or None."""
        return self._by_member.get(member_id)

    def of_ids(self) -> list[tuple[str, Process]]:
        """Return each member id with its process."""
        return list(self._by_member.items())

    def by_name(self, view: GroupView) -> dict[str, Process]:
        """Return the processes by their members' short names."""
        return {
            name: self._by_member[member_id]
            for member_id, name in view.names.items()
            if member_id in self._by_member
        }

    def known(self, line: Line, client: str | None) -> Process | None:
        """Return the process that a line is about, by its member id or else by its client; None
        if there is none yet."""
        process = self._by_member.get(line.member or "")
        return self._by_client.get(client or "") if process is None else process

    def bind(self, member_id: str, process: Process) -> None:
        """Bind a member id to a process."""
        self._by_member[member_id] = process
        process.member_id = member_id

    def hold(self, process: Process, held: frozenset[Key], at_ms: int) -> None:
        """Let a process own exactly these partitions from now on."""
        if held != process.held:
            gone, come = process.held - held, held - process.held
            process.held = held
            self.partitions.remove(process, gone, at_ms)
            self.partitions.add(process, come, at_ms)
        process.refresh(at_ms)

    def share(self, process: Process, shared: frozenset[Key], at_ms: int) -> None:
        """Let a member of a share group be assigned exactly these partitions from now on."""
        if shared != process.shared:
            gone, come = process.shared - shared, shared - process.shared
            process.shared = shared
            self.partitions.remove(process, gone, at_ms)
            self.partitions.add(process, come, at_ms)
        process.refresh(at_ms)

    def _new(self, name: str, at_ms: int, client: str = "") -> Process:
        process = Process(len(self.processes), name, at_ms, client)
        self.processes.append(process)
        self._of_client.setdefault(process.client, []).append(process)
        return process
