"""The kit at the other end of a control port: the same API as `Emulator`'s, for an emulator in
another process or container.

    kafka = RemoteKit("http://127.0.0.1:8080")
    kafka.create_topic("orders", partitions=6)
    kafka.group("billing").wait(state="Stable", members=1)

Faults, verbs of brokers, properties of groups and verifications are the kit's own classes; here is
only what crosses the wire. Errors are raised as the kit raises them. What takes a Python function
raises TypeError: it cannot cross the wire.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from ...control import arguments, cluster
from ...control.cluster_kit import ClusterKit
from ...control.faults import Fault, to_plain
from ...control.in_process_requests import ControlError
from ...control.injection.fault_words import FaultWords, milliseconds
from ...control.kit import DEFAULT_GRACE_S, Value
from ...control.thread_calls import DEFAULT_TIMEOUT_S
from ...control.topics import ReadRecord, Written
from ...members.subscription import topic_names
from ..client import Client, path_of
from ..plain import from_bytes, to_bytes
from .calls import Caller
from .faults import RemoteFault
from .groups import RemoteGroup
from .peers import RemotePeer
from .snapshots import RemoteSnapshot, number_of

if TYPE_CHECKING:
    from ...control.verification import Verification
    from .journal import RemoteJournal

T = TypeVar("T")
_ALL = 10**9


class RemoteKit(ClusterKit, FaultWords["RemoteFault"]):
    """An emulator by its control port. `url`: such as http://127.0.0.1:8080; `token`: if it needs
    one. Safe from any thread."""

    def __init__(self, url: str, token: str = "") -> None:
        self._caller = Caller(Client(url, token))

    @property
    def bootstrap_servers(self) -> str:
        """What clients are given."""
        return str(self._caller.get("/")["bootstrap_servers"])

    # -- topics and records
    # --------------------------------------------------------------------------------------------

    def create_topic(
        self,
        name: str,
        partitions: int = -1,
        *,
        replication: int = -1,
        config: Mapping[str, object] | None = None,
    ) -> None:
        """See `Kit.create_topic`."""
        arguments.new_topic(name, partitions, replication, config)
        body = {
            "name": name,
            "partitions": partitions,
            "replication": replication,
            "config": dict(config or {}),
        }
        self._caller.post("/topics", body)

    def topics(self) -> dict[str, int]:
        """See `Kit.topics`."""
        return {row["name"]: row["partitions"] for row in self._caller.get("/topics")["topics"]}

    def grow_topic(self, name: str, partitions: int) -> None:
        """See `Kit.grow_topic`."""
        self._caller.post(path_of("topics", name, "grow"), {"partitions": partitions})

    def delete_topic(self, name: str) -> None:
        """See `Kit.delete_topic`."""
        self._caller.delete(path_of("topics", name))

    def truncate(self, name: str, partition: int, before: int = -1) -> int:
        """See `Kit.truncate`."""
        return int(
            self._caller.post(
                path_of("topics", name, "partitions", partition, "truncate"), {"before": before}
            )["start"]
        )

    def end_offsets(self, name: str, *, committed: bool = False) -> dict[int, int]:
        """See `Kit.end_offsets`."""
        rows = self._caller.get(path_of("topics", name, "end-offsets"), committed=committed)[
            "offsets"
        ]
        return {row["partition"]: row["offset"] for row in rows}

    def produce(
        self,
        name: str,
        values: Iterable[Value],
        *,
        partition: int | None = None,
        keys: Sequence[Value] | None = None,
        headers: Mapping[str, Value] | None = None,
        timestamp_ms: int | None = None,
        transactional_id: str | None = None,
        abort: bool = False,
    ) -> list[Written]:
        """See `Kit.produce`."""
        arguments.records(partition, headers, timestamp_ms, transactional_id, abort)
        if keys is not None:
            arguments.listed("keys", keys)
        body = {
            "values": [_plain(value) for value in arguments.listed("values", values)],
            "keys": None if keys is None else [_plain(key) for key in keys],
            "headers": {header: _plain(value) for header, value in (headers or {}).items()},
            "partition": partition,
            "timestamp_ms": timestamp_ms,
            "transactional_id": transactional_id,
            "abort": abort,
        }
        return [
            Written(**row)
            for row in self._caller.post(path_of("topics", name, "records"), body)["written"]
        ]

    def records(
        self,
        name: str,
        partition: int | None = None,
        *,
        start: int | None = None,
        committed: bool = False,
    ) -> list[ReadRecord]:
        """See `Kit.records`."""
        arguments.whole_or_none("partition", partition)
        arguments.whole_or_none("start", start)
        arguments.flag("committed", committed)
        query = {"partition": partition, "start": start, "committed": committed, "limit": _ALL}
        return [
            _record(row)
            for row in self._caller.get(path_of("topics", name, "records"), **query)["records"]
        ]

    # -- groups and members
    # --------------------------------------------------------------------------------------------

    def group(self, group_id: str) -> RemoteGroup:
        """See `Kit.group`."""
        arguments.group(group_id)
        return RemoteGroup(self._caller, group_id, self.verify, self.peer)

    def groups(self) -> list[str]:
        """See `Kit.groups`."""
        return [row["group_id"] for row in self._caller.get("/groups")["groups"]]

    def peer(
        self,
        group: str,
        topics: Iterable[str] | None = None,
        *,
        pattern: str | None = None,
        config: Mapping[str, object] | None = None,
        listener: object = None,
        keep_going: bool = False,
        protocol: str | None = None,
    ) -> RemotePeer:
        """See `Emulator.peer`. A listener cannot be given: what the peer was told stands in the
        log's stream `member`."""
        if listener is not None:
            raise TypeError(
                'listener: it is Python code, which cannot be given over HTTP; see events(stream="member")'
            )
        listed = None if topics is None else topic_names(topics)
        body: dict[str, object] = {
            "group": group,
            "topics": listed,
            "pattern": pattern,
            "config": dict(arguments.settings_of(config)),
        }
        body |= {"keep_going": keep_going, "protocol": protocol}
        return RemotePeer(self._caller, self._caller.post("/peers", body))

    # -- time and the log
    # ----------------------------------------------------------------------------------------------

    def advance(
        self, seconds: float, *, silent: Collection[str] = (), grace: float = DEFAULT_GRACE_S
    ) -> list[dict[str, Any]]:
        """See `Kit.advance`."""
        milliseconds(seconds)
        arguments.seconds("grace", grace)
        body = {"seconds": seconds, "silent": arguments.listed("silent", silent), "grace": grace}
        return list(self._caller.post("/advance", body, limit_s=600)["events"])

    def mark(self) -> int:
        """See `Kit.mark`."""
        return int(self._caller.get("/mark")["mark"])

    def events(
        self,
        kind: str | None = None,
        *,
        group: str | None = None,
        stream: str | None = None,
        since: int = 0,
        **fields: Any,
    ) -> list[dict[str, Any]]:
        """See `Kit.events`."""
        from ...control.event_waits import check_words

        check_words(kind, group, stream, fields, since)
        lines = self._caller.get(
            "/events", type=kind, group=group, stream=stream, since=since, limit=_ALL
        )["events"]
        return [
            line
            for line in lines
            if all(line.get(name) == value for name, value in fields.items() if value is not None)
        ]

    def wait_for(
        self,
        kind: str | None = None,
        *,
        group: str | None = None,
        stream: str | None = None,
        since: int | None = None,
        count: int = 1,
        timeout: float = DEFAULT_TIMEOUT_S,
        **fields: Any,
    ) -> list[dict[str, Any]]:
        """See `Kit.wait_for`."""
        body = {
            "type": kind,
            "group": group,
            "stream": stream,
            "since": since,
            "count": count,
            "timeout": timeout,
            "fields": fields,
        }
        return list(self._caller.post("/events/wait", body)["events"])

    def explain(self, group: str | None = None, generation: int | None = None) -> str:
        """See `Kit.explain`."""
        return str(self._caller.get("/explain", group=group, generation=generation)["text"])

    def timeline(self, group: str | None = None, generation: int | None = None) -> dict[str, Any]:
        """See `Kit.timeline`."""
        return dict(self._caller.get("/timeline", group=group, generation=generation))

    def verify(self, group: str, *, since: int = 0) -> Verification:
        """See `Kit.verify`: the log is read, and judged here."""
        from ...control.verification import Verification

        return Verification(group, self.events(), self.group(group).snapshot(), since)

    def story(self) -> str:
        """See `Kit.story`."""
        return str(self._caller.get("/story")["text"])

    def journal(self, most: int | None = None) -> RemoteJournal:
        """See `Kit.journal`."""
        from .journal import RemoteJournal

        return RemoteJournal(self._caller, most)

    # -- faults and brokers
    # --------------------------------------------------------------------------------------------

    def add_fault(self, fault: Fault) -> RemoteFault:
        """See `Kit.add_fault`."""
        return RemoteFault(self._caller, self._caller.post("/faults", to_plain(fault)))

    def clear_faults(self) -> None:
        """See `Kit.clear_faults`."""
        self._caller.delete("/faults")

    def faults(self) -> list[RemoteFault]:
        """The faults in force, in the order in which they were added."""
        return [RemoteFault(self._caller, row) for row in self._caller.get("/faults")["faults"]]

    def missed_faults(self) -> list[str]:
        """See `Kit.missed_faults`."""
        return list(self._caller.get("/faults/missed")["faults"])

    def control(self, verb: cluster.Verb) -> cluster.Verb | None:
        """See `Emulator.control`."""
        inverse = self._caller.post("/brokers/control", cluster.to_plain(verb))["inverse"]
        return None if inverse is None else cluster.from_plain(inverse)

    def is_running(self, broker: int) -> bool:
        """See `Emulator.is_running`."""
        rows = {row["id"]: row["running"] for row in self._caller.get("/brokers")["brokers"]}
        if broker not in rows:
            raise ControlError(
                f"there is no broker {broker}; there are: {', '.join(map(str, rows))}"
            )
        return bool(rows[broker])

    def unload_coordinator(self, partition: int | None = None) -> None:
        """See `Emulator.unload_coordinator`."""
        self._caller.post("/coordinator/unload", {"partition": partition})

    def load_coordinator(self, partition: int | None = None) -> None:
        """See `Emulator.load_coordinator`."""
        self._caller.post("/coordinator/load", {"partition": partition})

    def reset(self, *, keep_topics: Collection[str] = ()) -> None:
        """See `Kit.reset`."""
        self._caller.post(
            "/reset", {"keep_topics": arguments.listed("topics to keep", keep_topics)}
        )

    def snapshot(self) -> RemoteSnapshot:
        """See `Kit.snapshot`. It stays with the emulator that took it."""
        return RemoteSnapshot(self._caller, self._caller.post("/snapshots"))

    def restore(self, snapshot: RemoteSnapshot) -> None:
        """See `Kit.restore`."""
        self._caller.post(path_of("snapshots", number_of(snapshot, self._caller), "restore"))

    def run(self, function: Callable[[], T]) -> NoReturn:
        """A Python function cannot cross the wire: TypeError."""
        raise TypeError(
            "run: a Python function cannot be called over HTTP; embed the emulator (coordinator.Emulator) for that"
        )


def _plain(value: Value) -> Any:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bytes):
        return from_bytes(value)
    raise ControlError(f"{value!r} cannot stand in a record: bytes, a text or None can")


def _record(row: Mapping[str, Any]) -> ReadRecord:
    headers = tuple(
        (header["name"], to_bytes(header["value"], "a header")) for header in row["headers"]
    )
    return ReadRecord(
        row["topic"],
        row["partition"],
        row["offset"],
        row["timestamp_ms"],
        to_bytes(row["key"], "key"),
        to_bytes(row["value"], "value"),
        headers,
    )
