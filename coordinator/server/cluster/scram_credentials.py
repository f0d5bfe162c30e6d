"""SCRAM credentials (KIP-554) of users by mechanism: salt, iterations and keys.

Rules and texts are those of Kafka's ScramControlManager and ScramImage. Passwords are not kept,
and only mechanisms and iterations can be read by clients. Does not know requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from coordinator.base.errors import ErrorCode
from coordinator.wire.sasl.scram import (
    BY_NUMBER,
    LEAST_ITERATIONS,
    MECHANISMS,
    MOST_ITERATIONS,
    Credential,
    Mechanism,
)


class ScramRefused(Exception):
    """Error code and message with which an alteration or a description is refused for a user."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Deletion(NamedTuple):
    """A credential to remove."""

    user: str
    mechanism: int


class Upsertion(NamedTuple):
    """A credential to set."""

    user: str
    mechanism: int
    iterations: int
    salt: bytes
    salted_password: bytes

    def credential(self) -> Credential:
        """Return the credential to keep."""
        return Credential(
            BY_NUMBER[self.mechanism], self.salt, self.iterations, lambda: self.salted_password
        )


class ScramCredentials:
    """SCRAM credentials of all users."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[int, Credential]] = {}

    def alter(
        self, deletions: Iterable[Deletion], upsertions: Iterable[Upsertion]
    ) -> dict[str, ScramRefused | None]:
        """Change credentials, one change for each user. Return by user None, or the refusal."""
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
            if isinstance(change, Upsertion) and not change.salted_password:
                # An empty key is none for Java's Mac: an exception that Kafka did not foresee.
                results[user] = ScramRefused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
            else:
                self._apply(user, change)
        return results

    def users(self) -> list[str]:
        """Return all users that have a credential."""
        return list(self._kept)

    def of(self, user: str) -> list[tuple[int, int]]:
        """Return mechanism and iterations of each credential of a user. Raises ScramRefused for a
        user without one.
        """
        found = self._kept.get(user)
        if found is None:
            raise ScramRefused(
                ErrorCode.RESOURCE_NOT_FOUND,
                f"Attempt to describe a user credential that does not exist: {user}",
            )
        return sorted((number, each.iterations) for number, each in found.items())

    def find(self, user: str, mechanism: Mechanism) -> Credential | None:
        """Return a user's credential for a mechanism, or None."""
        return self._kept.get(user, {}).get(mechanism.number)

    def set_password(self, user: str, password: str, new_salt: Callable[[], bytes]) -> None:
        """Set a user's credentials for every SCRAM mechanism from a password."""
        for mechanism in MECHANISMS.values():
            self._kept.setdefault(user, {})[mechanism.number] = Credential.of_password(
                mechanism, password, new_salt()
            )

    def _why_not(self, change: Deletion | Upsertion) -> ScramRefused | None:
        if not change.user:
            return ScramRefused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
        if change.mechanism not in BY_NUMBER:
            return ScramRefused(ErrorCode.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
        if isinstance(change, Deletion):
            if change.mechanism in self._kept.get(change.user, {}):
                return None
            return ScramRefused(
                ErrorCode.RESOURCE_NOT_FOUND,
                "Attempt to delete a user credential that does not exist",
            )
        if change.iterations < LEAST_ITERATIONS:
            return ScramRefused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
        if change.iterations > MOST_ITERATIONS:
            return ScramRefused(ErrorCode.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
        return None

    def _apply(self, user: str, change: Deletion | Upsertion) -> None:
        if isinstance(change, Upsertion):
            self._kept.setdefault(user, {})[change.mechanism] = change.credential()
            return
        left = self._kept[user]
        del left[change.mechanism]
        if not left:
            del self._kept[user]


_TWICE = ScramRefused(
    ErrorCode.DUPLICATE_RESOURCE, "A user credential cannot be altered twice in the same request"
)
