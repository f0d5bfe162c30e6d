"""Share sessions (KIP-932): the partitions that a member of a share group reads at this broker.

Owns the sessions, their epochs and partitions, and the connection each belongs to. Kafka's rules
(SH-SES-1 to SH-SES-4): epoch 0 starts a session anew, later requests carry the next epoch, -1
ends it; a session ends with the connection that started it, if it is the last which that
started; there are at most group.share.max.share.sessions. Does not know what partitions contain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.errors import ErrorCode

if TYPE_CHECKING:
    from ..cluster import Topic

INITIAL_EPOCH, FINAL_EPOCH = 0, -1
_LAST_EPOCH = 0x7FFF_FFFF

At = tuple[bytes, int]
"""A partition as requests name it: topic id and index."""


class SessionKey(NamedTuple):
    """Group and member of a session."""

    group_id: str
    member_id: str


class ShareSession:
    """One share session. `epoch`: the epoch that its next request must carry; `partitions`: whether
    each must still be listed in a response, even if nothing is read of it; `names`: topic names
    when the partitions were added, which stay after the topic is deleted (SH-SES-5).
    """

    __slots__ = ("epoch", "key", "names", "partitions", "peer")

    def __init__(self, key: SessionKey, peer: str) -> None:
        self.key = key
        self.peer = peer
        self.epoch = 1
        self.partitions: dict[At, bool] = {}
        self.names: dict[At, str] = {}

    def in_turn(self, epoch: int) -> list[At]:
        """Return the partitions in reading order: each request begins with another one."""
        all_of_them = list(self.partitions)
        at = epoch % len(all_of_them) if all_of_them and epoch > 0 else 0
        return all_of_them[at:] + all_of_them[:at]


class BegunLast(NamedTuple):
    """The session that a connection started last. `goes_on`: none of the connection's sessions has
    ended since, so this one ends with the connection (SH-SES-4).
    """

    key: SessionKey
    goes_on: bool = True


class ShareSessions:
    """Share sessions of one broker."""

    def __init__(self) -> None:
        self._sessions: dict[SessionKey, ShareSession] = {}
        self._of_group: dict[str, int] = {}
        self._begun_last: dict[str, BegunLast] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def get(self, key: SessionKey) -> ShareSession | None:
        """Return a member's session, or None."""
        return self._sessions.get(key)

    def begin(self, key: SessionKey, peer: str, most: int) -> ShareSession | ErrorCode:
        """Start a session, replacing the member's former one; 133 if there are too many."""
        self.end(key)
        if len(self._sessions) >= most:
            return ErrorCode.SHARE_SESSION_LIMIT_REACHED
        session = self._sessions[key] = ShareSession(key, peer)
        self._of_group[key.group_id] = self.count(key.group_id) + 1
        self._begun_last[peer] = BegunLast(key)
        return session

    def go_on(self, key: SessionKey, epoch: int) -> ShareSession | ErrorCode:
        """Return the session with its epoch raised, or the error: 122, 123."""
        session = self._sessions.get(key)
        if session is None:
            return ErrorCode.SHARE_SESSION_NOT_FOUND
        if epoch == FINAL_EPOCH:
            return session
        if session.epoch != epoch:
            return ErrorCode.INVALID_SHARE_SESSION_EPOCH
        session.epoch = 1 if epoch == _LAST_EPOCH else epoch + 1
        return session

    def end(self, key: SessionKey) -> ShareSession | None:
        """End and return a session, if it exists."""
        session = self._sessions.pop(key, None)
        if session is not None:
            self._of_group[key.group_id] -= 1
            if not self._of_group[key.group_id]:
                del self._of_group[key.group_id]
            last = self._begun_last.get(session.peer)
            if last is not None:
                self._begun_last[session.peer] = last._replace(goes_on=False)
        return session

    def count(self, group_id: str) -> int:
        """Return the number of a group's sessions."""
        return self._of_group.get(group_id, 0)

    def of_peer(self, peer: str) -> SessionKey | None:
        """Return the session that ends with a connection, or None."""
        last = self._begun_last.get(peer)
        return last.key if last is not None and last.goes_on else None

    def has_begun_any(self, peer: str) -> bool:
        """Return True if a connection ever began a session."""
        return peer in self._begun_last

    def forget_peer(self, peer: str) -> str | None:
        """Forget a closed connection. Return the group of the session that it started last, or
        None.
        """
        last = self._begun_last.pop(peer, None)
        return None if last is None else last.key.group_id

    def all(self) -> Iterable[ShareSession]:
        """Return all sessions."""
        return self._sessions.values()


def change(
    session: ShareSession,
    named: Iterable[At],
    forgotten: Iterable[At],
    topics: Mapping[bytes, Topic],
    *,
    begins: bool = False,
) -> None:
    """Add and remove partitions of a session as a request says. `topics`: existing topics by id.
    `begins`: it is the session's first request.
    """
    for at in named:
        if at not in session.partitions:
            session.partitions[at] = not begins
            topic = topics.get(at[0])
            if topic is not None:
                session.names[at] = topic.name
    for at in forgotten:
        session.partitions.pop(at, None)
        session.names.pop(at, None)
