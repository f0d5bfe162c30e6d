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
    """Something that was changed. `undo` brings it back, once; as a context manager it does so at
    the end of the block."""

    def __init__(self, told: str, undo: Callable[[], object] | None = None) -> None:
        self.told = told
        self._undo = undo

    def undo(self) -> None:
        """Bring it back, if that can be done and was not done yet."""
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
    """Verbs of an emulator with users, an authorizer or certificates. Each raises ControlError for
    what cannot be done."""

    def secure(self, verb: str, words: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out one of `access.VERBS`; what it answers."""
        raise NotImplementedError

    def acls(self) -> list[str]:
        """The ACLs in force, as sentences, in the order in which they were made."""
        return list(self.secure("acls", {})["acls"])

    def grant(self, *acls: str | Mapping[str, Any]) -> Change:
        """Make ACLs: `kafka.grant("User:billing may Read topic orders")`. Undone, those that are new
        go again."""
        return self._changed("grant", "revoke", acls)

    def revoke(self, *acls: str | Mapping[str, Any]) -> Change:
        """Delete ACLs, which have to be in force: `kafka.revoke("User:billing may Read group
        billing")`. Undone, they are in force again."""
        return self._changed("revoke", "grant", acls)

    def _changed(self, verb: str, inverse: str, acls: Sequence[str | Mapping[str, Any]]) -> Change:
        changed = self.secure(verb, {"acls": list(acls)})["acls"]
        return Change(
            f"{verb} {'; '.join(changed)}",
            (lambda: self.secure(inverse, {"acls": changed})) if changed else None,
        )

    def quotas(self) -> list[dict[str, Any]]:
        """The client quotas in force, each with `user`, `client_id` and `quotas`, the values by
        Kafka's names; `<default>` stands for all that have none of their own."""
        return list(self.secure("quotas", {})["quotas"])

    def set_quota(
        self, user: str | None = None, client_id: str | None = None, **quotas: float | None
    ) -> Change:
        """Limit a client: `kafka.set_quota(client_id="billing", producer_byte_rate=1000)`.

        What is limited has Kafka's name; None takes it away. The user or client id `<default>`
        means all that have no quota of their own. Undone, what was before counts.
        """
        whose = {"user": user, "client_id": client_id}
        before = self.secure("set_quota", {**whose, "quotas": quotas})["before"]
        return Change(
            f"quotas {', '.join(quotas)}",
            lambda: self.secure("set_quota", {**whose, "quotas": before}),
        )

    def rotate_password(self, user: str, password: str) -> Change:
        """Let a user log in with another password, by every mechanism. Open connections live on
        (SCRAM-5): `expire_session` ends them. Undone, the one before is right again."""
        self.secure("rotate_password", {"user": user, "password": password})
        return Change(
            f"another password of {user}", lambda: self.secure("restore_password", {"user": user})
        )

    def expire_session(self, user: str) -> int:
        """Let the sessions of a user be over: the next request closes a connection, unless it
        begins to log in again (KIP-368). How many there were."""
        return int(self.secure("expire_session", {"user": user})["sessions"])

    def deny_authentication(self, user: str | None = None, *, times: int = 1) -> Change:
        """Refuse the next logins, of one user or of anybody, as if the password were wrong. Undone,
        what is left of them is refused no longer."""
        self.secure("deny_authentication", {"user": user, "times": times})
        return Change(
            f"{how_many(times, 'login')} refused",
            lambda: self.secure("deny_authentication", {"user": user, "times": 0}),
        )

    def fail_handshakes(self, how: str = "refuse", *, times: int = 1) -> Change:
        """Let the next TLS handshakes fail: `refuse`, by an alert, or `cut`, in the middle of the
        server's answer. Undone, what is left of them is as always."""
        return self._disturbed(how, times, 0)

    def delay_handshakes(self, seconds: float, *, times: int = 1) -> Change:
        """Let the next TLS handshakes wait for so long, in real time. Undone, what is left of them
        is as always."""
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
        """Show new handshakes a certificate whose time is over. Open connections live on. Undone,
        they are shown a new one that is good."""
        self.secure("expire_certificate", {})
        return Change("a certificate that is over", lambda: self.secure("rotate_certificate", {}))

    def rotate_certificate(self) -> Change:
        """Show new handshakes another certificate of the same authority. Open connections live
        on."""
        self.secure("rotate_certificate", {})
        return Change("another certificate")
