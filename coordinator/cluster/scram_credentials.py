"""SCRAM credentials (KIP-554): who has which mechanism with how many iterations, kept and shown;
nobody logs in with them.

Rules are those of Kafka's ScramControlManager and ScramImage, texts included. Salts and passwords
are not kept. Does not depend on requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ..errors import ErrorCode

_LEAST_ITERATIONS = 4096  # of SCRAM-SHA-256 and of SCRAM-SHA-512 alike
_MOST_ITERATIONS = 16384
MECHANISMS = (1, 2)
"""SCRAM-SHA-256, SCRAM-SHA-512."""


class ScramRefused(Exception):
    """A user's alteration or description is refused with this code and message."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Deletion(NamedTuple):
    """A credential to be removed."""

    user: str
    mechanism: int


class Upsertion(NamedTuple):
    """A credential to be set. `has_password`: the salted password is not empty."""

    user: str
    mechanism: int
    iterations: int
    has_password: bool


class ScramCredentials:
    """The credentials of all users."""

    def __init__(self) -> None:
        self._iterations: dict[str, dict[int, int]] = {}

    def alter(
        self, deletions: Iterable[Deletion], upsertions: Iterable[Upsertion]
    ) -> dict[str, ScramRefused | None]:
        """Change credentials, each user's once. By user: None, or why nothing was changed."""
        results: dict[str, ScramRefused | None] = {}
        changes: dict[str, Deletion | Upsertion] = {}
        both: list[Deletion | Upsertion] = [*deletions, *upsertions]
        for change in both:
            if results.get(change.user) is not None:
                continue
            refused = _TWICE if change.user in changes else self._why_not(change)
            results[change.user] = refused
            if refused is None:
                changes[change.user] = change
            else:
                changes.pop(change.user, None)
        for user, change in changes.items():
            self._apply(user, change)
        return results

    def users(self) -> list[str]:
        """Everybody who has a credential."""
        return list(self._iterations)

    def of(self, user: str) -> list[tuple[int, int]]:
        """Mechanism and iterations of each credential of a user. Raises ScramRefused for one that
        has none."""
        found = self._iterations.get(user)
        if found is None:
            raise ScramRefused(
                ErrorCode.RESOURCE_NOT_FOUND,
                f"Attempt to describe a user credential that does not exist: {user}",
            )
        return sorted(found.items())

    def _why_not(self, change: Deletion | Upsertion) -> ScramRefused | None:
        if not change.user:
            return ScramRefused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
        if change.mechanism not in MECHANISMS:
            return ScramRefused(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
        if isinstance(change, Deletion):
            if change.mechanism in self._iterations.get(change.user, {}):
                return None
            return ScramRefused(
                ErrorCode.RESOURCE_NOT_FOUND,
                "Attempt to delete a user credential that does not exist",
            )
        if change.iterations < _LEAST_ITERATIONS:
            return ScramRefused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
        if change.iterations > _MOST_ITERATIONS:
            return ScramRefused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
        # An empty key is none for Java's Mac: an exception that Kafka did not foresee.
        return None if change.has_password else ScramRefused(ErrorCode.UNKNOWN_SERVER_ERROR, None)

    def _apply(self, user: str, change: Deletion | Upsertion) -> None:
        if isinstance(change, Upsertion):
            self._iterations.setdefault(user, {})[change.mechanism] = change.iterations
            return
        left = self._iterations[user]
        del left[change.mechanism]
        if not left:
            del self._iterations[user]


_TWICE = ScramRefused(
    ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request"
)
