"""The kit at the other end of a control port: the same API as `Emulator`'s, for an emulator in
another process or container.

    kafka = RemoteKit("http://127.0.0.1:8080")
    kafka.create_topic("orders", partitions=6)
    kafka.group("billing").wait(state="Stable", members=1)

Faults, verbs for brokers, properties of groups and verifications are the kit's own classes.
Methods have the kit's signatures and call operations of the port (`calls.far`). Errors are
raised as the kit raises them. An argument that is a Python function raises TypeError, because it
cannot be sent.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from tempfile import mkstemp
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar
from weakref import finalize

from coordinator.base.keyword_errors import nearest_keywords
from coordinator.events.line import lines_of
from coordinator.members.subscription import topic_names

from ... import arguments, cluster
from ...cluster_kit import ClusterKit
from ...faults import Fault, to_plain
from ...in_process_requests import ControlError
from ...injection.fault_words import FaultWords, milliseconds
from ...kit import Kit
from ...security.kit import SecurityKit
from ...topics import ReadRecord, Written
from ..client import Client
from ..json_values import to_bytes
from .calls import Caller, far
from .faults import RemoteFault
from .groups import RemoteGroup
from .peers import RemotePeer, RemoteSharePeer
from .snapshots import RemoteSnapshot, number_of

if TYPE_CHECKING:
    from coordinator.verbs.brokers import How

    from ...topic_handle import TopicHandle
    from ...verifying.verification import Verification
    from .journal import RemoteJournal
    from .shares import RemoteShareGroup

T = TypeVar("T")
_ALL = 10**9


def _written(values: Iterable[Any], keys: Any, headers: Any, **words: Any) -> dict[str, Any]:
    """Check the arguments of `produce` and return those that the operation takes in another
    form."""
    words.pop("name")
    words.pop("user")
    arguments.seconds("timeout", words.pop("timeout"))
    arguments.records(headers=headers, **words)
    listed = arguments.listed("values", values)
    given = None if keys is None else arguments.listed("keys", keys)
    for value in (*listed, *(given or ()), *(headers or {}).values()):
        if value is not None and not isinstance(value, bytes | str):
            raise ControlError(f"{value!r} cannot stand in a record: bytes, a text or None can")
    return {"values": listed, "keys": given}


def _read(partition: object, start: object, committed: object, **_: object) -> dict[str, Any]:
    """Check the arguments of `records` and return further fields for the operation."""
    arguments.whole_or_none("partition", partition)
    arguments.whole_or_none("start", start)
    arguments.flag("committed", committed)
    return {"limit": _ALL}


def _jump(seconds: object, hours: object, silent: Iterable[str], grace: object) -> dict[str, Any]:
    """Check the arguments of `advance` and return those that the operation takes in another
    form."""
    milliseconds(arguments.jump(seconds, hours))
    arguments.seconds("grace", grace)
    return {"silent": arguments.listed("silent", silent)}


def _kept(keep_topics: Iterable[str]) -> dict[str, Any]:
    return {"keep_topics": arguments.listed("topics to keep", keep_topics)}


_SECURE = {
    "acls": "acl_list",
    "deny_authentication": "login_deny",
    "disturb_handshakes": "handshake_disturb",
    "expire_certificate": "certificate_expire",
    "expire_session": "user_expire",
    "grant": "acl_grant",
    "restore_password": "user_restore",
    "quotas": "quota_list",
    "revoke": "acl_revoke",
    "rotate_certificate": "certificate_rotate",
    "rotate_password": "user_password",
    "set_quota": "quota_set",
}
"""The operation for each method about security."""


@nearest_keywords
class RemoteKit(ClusterKit, SecurityKit, FaultWords["RemoteFault"]):
    """An emulator behind its control port. `url`: such as http://127.0.0.1:8080. `token`: if the
    port needs one. Safe from any thread."""

    def __init__(self, url: str, token: str = "") -> None:
        self._caller = Caller(Client(url, token))
        self._at: Mapping[str, Any] = {}
        self._copies: dict[str, str] = {}
        """Paths of the emulator's files, and of their copies on this machine."""

    @property
    def bootstrap_servers(self) -> str:
        """The addresses for clients' setting bootstrap.servers."""
        return str(self._caller("about")["bootstrap_servers"])

    # -- security

    @property
    def ca_file(self) -> str:
        """Path of a copy, on this machine, of the authority's certificate. It exists as long as
        this object."""
        told = self._caller("ca")
        return self._copied(told["file"], told["pem"])

    def client_config(
        self,
        library: str,
        *,
        user: str | None = None,
        mechanism: str | None = None,
        listener: str | None = None,
    ) -> dict[str, Any]:
        """See `Emulator.client_config`. Files in the settings are copies on this machine, which
        exist as long as this object."""
        words = {"user": user, "mechanism": mechanism, "listener": listener}
        given = {name: value for name, value in words.items() if value is not None}
        told = self._caller("client_config", library=library, **given)
        copies = {path: self._copied(path, text) for path, text in told["files"].items()}
        return {name: copies.get(str(value), value) for name, value in told["settings"].items()}

    def _copied(self, path: str, text: str) -> str:
        """Return the path of a local copy of the emulator's file; only this user can read the
        copy."""
        if path not in self._copies:
            number, self._copies[path] = mkstemp(suffix=".pem")
            with open(number, "w") as file:
                file.write(text)
            finalize(self, os.unlink, self._copies[path])
        return self._copies[path]

    def secure(self, verb: str, words: Mapping[str, Any]) -> dict[str, Any]:
        """See `Kit.secure`."""
        return dict(self._caller(_SECURE[verb], **words))

    def drop_connections(self) -> None:
        """See `Kit.drop_connections`."""
        self._caller("connection_drop")

    # -- topics and records

    create_topic = far(Kit.create_topic, "topic_create", check=arguments.new_topic)

    def topic(self, name: str) -> TopicHandle:
        """See `Kit.topic`."""
        from ...topic_handle import LogView, TopicHandle

        return TopicHandle(
            name,
            lambda name, index: LogView.read(
                self._caller("topic_log", topic=name, partition=index)
            ),
        )

    topics = far(
        Kit.topics,
        "topic_list",
        read=lambda _, told: {str(row["name"]): int(row["partitions"]) for row in told["topics"]},
    )
    configure_topic = far(Kit.configure_topic, "topic_configure")
    grow_topic = far(Kit.grow_topic, "topic_grow")
    delete_topic = far(Kit.delete_topic, "topic_delete")
    truncate = far(Kit.truncate, "topic_truncate")
    end_offsets = far(
        Kit.end_offsets,
        "topic_end_offsets",
        read=lambda _, told: {int(row["partition"]): int(row["offset"]) for row in told["offsets"]},
    )
    produce = far(
        Kit.produce,
        "topic_produce",
        check=_written,
        read=lambda _, told: [Written(**row) for row in told["written"]],
    )
    records = far(
        Kit.records,
        "topic_records",
        check=_read,
        read=lambda _, told: [_record(row) for row in told["records"]],
    )

    # -- groups and members

    def group(self, group_id: str) -> RemoteGroup:
        """See `Kit.group`."""
        arguments.group(group_id)
        return RemoteGroup(self._caller, group_id, self.verify, self.peer)

    def share_group(self, group_id: str) -> RemoteShareGroup:
        """See `Kit.share_group`."""
        from .shares import RemoteShareGroup

        arguments.group(group_id)
        return RemoteShareGroup(self._caller, group_id, self.verify)

    groups = far(
        Kit.groups,
        "group_list",
        read=lambda _, told: [str(row["group_id"]) for row in told["groups"]],
    )

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
        user: str | None = None,
    ) -> RemotePeer:
        """See `Emulator.peer`. A listener cannot be given; the log's stream `member` shows what
        a peer's listener would be called with."""
        if listener is not None:
            raise TypeError(
                'listener: it is Python code, which cannot be given over HTTP; see events(stream="member")'
            )
        shown = self._caller(
            "peer_start",
            group=group,
            topics=None if topics is None else topic_names(topics),
            pattern=pattern,
            config=arguments.settings_of(config),
            keep_going=keep_going,
            protocol=protocol,
            user=user,
        )
        return RemotePeer(self._caller, shown)

    def share_peer(
        self,
        group: str,
        topics: Iterable[str],
        *,
        processing_ms: int = 0,
        release: float = 0.0,
        reject: float = 0.0,
        renew_ms: int = 0,
        config: Mapping[str, object] | None = None,
        user: str | None = None,
    ) -> RemoteSharePeer:
        """See `Emulator.share_peer`."""
        shown = self._caller(
            "share_peer_start",
            group=group,
            topics=topic_names(topics),
            processing_ms=processing_ms,
            release=release,
            reject=reject,
            renew_ms=renew_ms,
            config=arguments.settings_of(config),
            user=user,
        )
        return RemoteSharePeer(self._caller, shown)

    # -- time and the log

    advance = far(Kit.advance, "advance", check=_jump)
    wait_for = far(Kit.wait_for, "event_wait", names={"kind": "type"})
    explain = far(Kit.explain, "explain")
    timeline = far(Kit.timeline, "timeline", read=lambda _, told: dict(told))
    obstacles = far(Kit.obstacles, "obstacles", read=lambda _, told: list(told["obstacles"]))
    story = far(Kit.story, "story")

    def mark(self) -> int:
        """See `Kit.mark`."""
        return int(self._caller("mark")["mark"])

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
        from ...event_waits import check_words

        check_words(kind, group, stream, fields, since)
        words = {"type": kind, "group": group, "stream": stream, "since": since, "limit": _ALL}
        wanted = {name: value for name, value in fields.items() if value is not None}
        return [
            plain
            for plain in self._caller("event_list", **words)["events"]
            if all(plain.get(name) == value for name, value in wanted.items())
        ]

    def verify(self, group: str, *, since: int = 0) -> Verification:
        """See `Kit.verify`. The log is fetched and judged here."""
        from ...verifying.verification import Verification

        return Verification(
            group,
            lines_of(self.events()),
            self.group(group).snapshot(),
            since,
            lambda topic, index: [
                record.offset for record in self.records(topic, index, committed=True)
            ],
            lambda topic, index: {
                record.offset: record.key
                for record in self.records(topic, index)
                if record.key is not None
            },
        )

    def journal(self, most: int | None = None) -> RemoteJournal:
        """See `Kit.journal`."""
        from .journal import RemoteJournal

        return RemoteJournal(self._caller, most)

    # -- faults and brokers

    clear_faults = far(Kit.clear_faults, "fault_clear")
    missed_faults = far(Kit.missed_faults, "fault_missed")
    reset = far(Kit.reset, "reset", check=_kept)

    def add_fault(self, fault: Fault) -> RemoteFault:
        """See `Kit.add_fault`."""
        return RemoteFault(self._caller, self._caller("fault_add", **to_plain(fault)))

    def faults(self) -> list[RemoteFault]:
        """Return the faults in force, in the order in which they were added."""
        return [RemoteFault(self._caller, row) for row in self._caller("fault_list")["faults"]]

    def control(self, verb: cluster.Verb) -> cluster.Verb | None:
        """See `Emulator.control`."""
        inverse = self._caller.control(cluster.to_plain(verb))["inverse"]
        return None if inverse is None else cluster.from_plain(inverse)

    def is_running(self, broker: int) -> bool:
        """See `Emulator.is_running`."""
        rows = {row["id"]: row["running"] for row in self._caller("broker_list")["brokers"]}
        if broker not in rows:
            raise ControlError(
                f"there is no broker {broker}; there are: {', '.join(map(str, rows))}"
            )
        return bool(rows[broker])

    def restart(
        self,
        broker: int | None = None,
        *,
        how: How = "controlled",
        config: Mapping[str, object] | None = None,
        kafka_version: str | None = None,
    ) -> None:
        """See `Emulator.restart`."""
        self._caller(
            "broker_restart",
            broker=broker,
            how=how,
            config=arguments.settings_of(config),
            kafka_version=kafka_version,
        )

    def unload_coordinator(self, partition: int | None = None) -> None:
        """See `Emulator.unload_coordinator`."""
        self._caller("coordinator_unload", partition=partition)

    def load_coordinator(self, partition: int | None = None) -> None:
        """See `Emulator.load_coordinator`."""
        self._caller("coordinator_load", partition=partition)

    def snapshot(self) -> RemoteSnapshot:
        """See `Kit.snapshot`. Only the emulator that took it can restore it."""
        return RemoteSnapshot(self._caller, self._caller("snapshot_take"))

    def restore(self, snapshot: RemoteSnapshot) -> None:
        """See `Kit.restore`."""
        self._caller("snapshot_restore", snapshot=number_of(snapshot, self._caller))

    def run(self, function: Callable[[], T]) -> NoReturn:
        """Raise TypeError, because a Python function cannot be sent."""
        raise TypeError(
            "run: a Python function cannot be called over HTTP; embed the emulator (coordinator.Emulator) for that"
        )


def _record(row: Mapping[str, Any]) -> ReadRecord:
    headers = tuple(
        (header["name"], to_bytes(header["value"], "a header")) for header in row["headers"]
    )
    key, value = (to_bytes(row[name], name) for name in ("key", "value"))
    place = (row["topic"], row["partition"], row["offset"], row["timestamp_ms"])
    return ReadRecord(*place, key, value, headers)
