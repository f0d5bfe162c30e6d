"""Faults that a member reports to its application: one exception class for each kind, with Kafka's
error code if there is one.

`retriable` faults are retried by the machine itself and only reach an asynchronous commit; every
message says what can be done. Does not know when a fault is raised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from coordinator.base.errors import ErrorCode

RETRIED_AT_ONCE: Final = frozenset(
    {
        ErrorCode.UNKNOWN_MEMBER_ID,
        ErrorCode.ILLEGAL_GENERATION,
        ErrorCode.REBALANCE_IN_PROGRESS,
        ErrorCode.MEMBER_ID_REQUIRED,
    }
)
"""Failures of a join that are followed by another try without backoff (CLI-4)."""


class MemberFault(Exception):
    """Base class of faults. `code`: Kafka's error, if it was one."""

    def __init__(
        self, message: str, code: ErrorCode | None = None, *, retriable: bool = False
    ) -> None:
        super().__init__(message)
        self.code = code
        self.retriable = retriable

    @property
    def name(self) -> str:
        """Short name, for rejoin reasons."""
        return self.code.name if self.code is not None else type(self).__name__


class Refused(MemberFault):
    """Fault: the coordinator answered with an error."""

    def __init__(
        self, api: str, code: int, hint: str = "", *, retriable: bool | None = None
    ) -> None:
        known = code_of(code)
        message = f"{api}: {known.name} ({code}): {known.message}"
        super().__init__(
            f"{message} {hint}".rstrip(),
            known,
            retriable=known.retriable if retriable is None else retriable,
        )


class Disconnected(MemberFault):
    """Fault: no answer, because the connection was lost or the request timed out."""

    def __init__(self, api: str, why: str) -> None:
        super().__init__(f"{api}: {why}", ErrorCode.NETWORK_EXCEPTION, retriable=True)


class FencedInstance(Refused):
    """Fault: another member has taken over this group.instance.id; this one must not continue."""


class GroupAuthorizationFailed(Refused):
    """Fault: the client is not authorized to use the group."""


class GroupFull(Refused):
    """Fault: the group has as many members as group.max.size allows."""


class TopicAuthorizationFailed(MemberFault):
    """Fault: the client is not authorized to read these topics."""

    def __init__(self, topics: Iterable[str]) -> None:
        self.topics = frozenset(topics)
        super().__init__(
            f"not authorized to access topics: {', '.join(sorted(self.topics))}",
            ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        )


class InvalidTopic(MemberFault):
    """Fault: the broker refuses these topic names as invalid."""

    def __init__(self, topics: Iterable[str]) -> None:
        self.topics = frozenset(topics)
        super().__init__(
            f"invalid topic names: {', '.join(sorted(self.topics))}",
            ErrorCode.INVALID_TOPIC_EXCEPTION,
        )


class CommitFailed(MemberFault):
    """Fault: the committing member is no longer in the group; its partitions may belong to others
    by now.
    """

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the commit failed: {why}; poll more often, or raise max.poll.interval.ms"
        )


class RebalanceInProgress(MemberFault):
    """Fault: the commit met a rebalance. Poll until it has ended, then commit the partitions still
    owned.
    """

    def __init__(self, why: str) -> None:
        super().__init__(
            f"the commit has to wait: {why}; poll, then commit again",
            ErrorCode.REBALANCE_IN_PROGRESS,
        )


class BadAssignment(MemberFault):
    """Fault: this member's assignment cannot be decoded or used (CLI-24)."""


class ListenerFault(MemberFault):
    """Fault: a rebalance callback raised an exception, which is the cause."""

    def __init__(self, callback: str, cause: Exception) -> None:
        super().__init__(f"{callback} raised {type(cause).__name__}: {cause}")
        self.__cause__ = cause


class AssignorFault(MemberFault):
    """Fault: the assignor broke a rule. `rule`: which one; `partition`: where, as "topic-3", if it
    concerns one.
    """

    def __init__(self, assignor: str, rule: str, detail: str, partition: str | None = None) -> None:
        super().__init__(f"assignor {assignor!r} broke the rule {rule!r}: {detail}")
        self.assignor = assignor
        self.rule = rule
        self.partition = partition


def code_of(code: int) -> ErrorCode:
    """Return Kafka's error for a number; unknown numbers are UNKNOWN_SERVER_ERROR, as in Java."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR
