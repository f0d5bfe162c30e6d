"""Methods of a test on rights, passwords and certificates, while clients run.

    with kafka.revoke("User:billing may Read group billing"):      # given back at the end of the block
        kafka.wait_for("AuthorizationRefused", group="billing")

Each method returns a `Change`, which can undo it. `access.py` carries it out, or the other end
of a control port.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from coordinator.base.counting import how_many
from coordinator.base.keyword_errors import nearest_keywords


class Change:
    """A change. `undo` reverts it, once; the end of a `with` block does so, too."""

    def __init__(self, told: str, undo: Callable[[], object] | None = None) -> None:
        self.told = told
        self._undo = undo

    def undo(self) -> None:
        """Revert the change, if that is possible and was not done yet."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()

    def __repr__(self) -> str:
        return f"<done: {self.told}>"


@nearest_keywords
class SecurityKit:
    """Methods of an emulator with users, an authorizer or certificates. Raises ControlError for
    impossible ones."""

    def secure(self, verb: str, words: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out one of `access.VERBS` and return its answer."""
        raise NotImplementedError

    def acls(self) -> list[str]:
        """Return the ACLs in force as sentences, in the order in which they were created."""
        return list(self.secure("acls", {})["acls"])

    def grant(self, *acls: str | Mapping[str, Any]) -> Change:
        """Create ACLs: `kafka.grant("User:billing may Read topic orders")`. The inverse deletes
        those that are new."""
        return self._changed("grant", "revoke", acls)

    def revoke(self, *acls: str | Mapping[str, Any]) -> Change:
        """Delete ACLs, which must be in force: `kafka.revoke("User:billing may Read group
        billing")`. The inverse creates them again."""
        return self._changed("revoke", "grant", acls)

    def _changed(self, verb: str, inverse: str, acls: Sequence[str | Mapping[str, Any]]) -> Change:
        changed = self.secure(verb, {"acls": list(acls)})["acls"]
        return Change(
            f"{verb} {'; '.join(changed)}",
            (lambda: self.secure(inverse, {"acls": changed})) if changed else None,
        )

    def quotas(self) -> list[dict[str, Any]]:
        """Return the client quotas in force, each with `user`, `client_id` and `quotas`, the
        values by Kafka's names; `<default>` stands for all without a quota of their own."""
        return list(self.secure("quotas", {})["quotas"])

    def set_quota(
        self, user: str | None = None, client_id: str | None = None, **quotas: float | None
    ) -> Change:
        """Set quotas of a client: `kafka.set_quota(client_id="billing", producer_byte_rate=1000)`.

        Quotas have Kafka's names; None removes one. The user or client id `<default>` means all
        without a quota of their own. The inverse sets the former values.
        """
        whose = {"user": user, "client_id": client_id}
        before = self.secure("set_quota", {**whose, "quotas": quotas})["before"]
        return Change(
            f"quotas {', '.join(quotas)}",
            lambda: self.secure("set_quota", {**whose, "quotas": before}),
        )

    def rotate_password(self, user: str, password: str) -> Change:
        """Change a user's password for every mechanism. Open connections stay (SCRAM-5);
        `expire_session` ends them. The inverse sets the former password."""
        self.secure("rotate_password", {"user": user, "password": password})
        return Change(
            f"another password of {user}", lambda: self.secure("restore_password", {"user": user})
        )

    def expire_session(self, user: str) -> int:
        """Let the sessions of a user expire: the next request closes the connection, unless it
        begins a new login (KIP-368). Return the number of sessions."""
        return int(self.secure("expire_session", {"user": user})["sessions"])

    def deny_authentication(self, user: str | None = None, *, times: int = 1) -> Change:
        """Refuse the next logins, of one user or of all, as if the password were wrong. The
        inverse cancels those that are left."""
        self.secure("deny_authentication", {"user": user, "times": times})
        return Change(
            f"{how_many(times, 'login')} refused",
            lambda: self.secure("deny_authentication", {"user": user, "times": 0}),
        )

    def fail_handshakes(self, how: str = "refuse", *, times: int = 1) -> Change:
        """Let the next TLS handshakes fail: `refuse`, by an alert, or `cut`, in the middle of
        the server's answer. The inverse cancels those that are left."""
        return self._disturbed(how, times, 0)

    def delay_handshakes(self, seconds: float, *, times: int = 1) -> Change:
        """Delay the next TLS handshakes by `seconds` of real time. The inverse cancels
        those that are left."""
        from .. import arguments

        arguments.seconds("seconds", seconds)
        return self._disturbed("delay", times, round(seconds * 1000))

    def _disturbed(self, how: str, times: int, delay_ms: int) -> Change:
        self.secure("disturb_handshakes", {"how": how, "times": times, "delay_ms": delay_ms})
        none = {"how": how, "times": 0, "delay_ms": 0}
        return Change(
            f"{how_many(times, 'handshake')}: {how}",
            lambda: self.secure("disturb_handshakes", none),
        )

    def expire_certificate(self) -> Change:
        """Use an expired certificate for new handshakes. Open connections stay. The inverse uses
        a new valid certificate."""
        self.secure("expire_certificate", {})
        return Change("a certificate that is over", lambda: self.secure("rotate_certificate", {}))

    def rotate_certificate(self) -> Change:
        """Use another certificate of the same authority for new handshakes. Open connections
        stay."""
        self.secure("rotate_certificate", {})
        return Change("another certificate")
