"""Security data of a cluster, shared by its brokers: users, passwords, listeners, logins.

Owns the users given by options; SCRAM credentials are the cluster's (`ScramCredentials`). Salts
and nonces come from `draw`, not from the seed; no secret is logged. Does not know connections.
"""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakSet

from coordinator.wire.sasl.plain import PLAIN, PlainServer
from coordinator.wire.sasl.scram import MECHANISMS, ScramServer

from .listeners import ListenerSecurity
from .oauthbearer import OAUTHBEARER, OAuthBearerServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from coordinator.wire.sasl.scram import Credential, Mechanism

    from .authorizer import Authorizer
    from .handshakes import Handshake
    from .signed_tokens import SignedTokens
    from .tokens import Tokens

KNOWN_MECHANISMS: Final = (PLAIN, *MECHANISMS)
"""Those that users with a password log in by."""
ALL_MECHANISMS: Final = (*KNOWN_MECHANISMS, OAUTHBEARER)
_NONCE_BYTES = 18
_SALT_BYTES = 18

Exchange = PlainServer | ScramServer | OAuthBearerServer


class Credentials(Protocol):
    """Interface of the cluster's SCRAM credentials."""

    def find(self, user: str, mechanism: Mechanism) -> Credential | None:
        """Return a user's credential for a mechanism, or None."""

    def set_password(self, user: str, password: str, new_salt: Callable[[], bytes]) -> None:
        """Set a user's credentials from a password."""


class Session(Protocol):
    """Interface of a connection's login (`sasl.Login`)."""

    principal: str

    @property
    def is_done(self) -> bool:
        """True if the client is authenticated."""

    def expire(self, now: int) -> None:
        """End the session now."""


class Security:
    """Users, listeners and logins of a cluster. The creator of brokers calls `keep_credentials`."""

    def __init__(
        self,
        listeners: Mapping[str, ListenerSecurity],
        users: Mapping[str, str],
        draw: Callable[[int], bytes],
        authorizer: Authorizer | None = None,
    ) -> None:
        self.listeners = dict(listeners)
        self.passwords = dict(users)
        self.draw = draw
        self.authorizer = authorizer
        """None: everybody may do everything."""
        self.epoch_ms = 0
        """The wall clock at the zero of `now`; the driver's."""
        self.certificates: object | None = None
        """The certificates of the servers, where a listener uses TLS; set by the driver."""
        self.signed: SignedTokens | None = None
        """The check of OAUTHBEARER tokens; None: they have no signature."""
        self.tokens: Tokens | None = None
        """Delegation tokens; None: the cluster has no key for them."""
        self._first_passwords = dict(users)
        self._credentials: Credentials | None = None
        self._logins: WeakSet[Session] = WeakSet()
        self._handshakes: list[Handshake] = []
        self._denied: dict[str | None, int] = {}

    def keep_credentials(self, credentials: Credentials) -> None:
        """Set the cluster's store of SCRAM credentials, and add the users given by options to it."""
        if self._credentials is credentials:
            return
        self._credentials = credentials
        for user, password in self.passwords.items():
            credentials.set_password(user, password, self.new_salt)

    def listener(self, name: str) -> ListenerSecurity:
        """Return a listener's security settings."""
        return self.listeners.get(name) or ListenerSecurity(name)

    def exchange(self, mechanism: str, now: int, required_scope: Iterable[str] = ()) -> Exchange:
        """Return the server side of a login. `required_scope`: the listener's, for OAUTHBEARER."""
        if mechanism == OAUTHBEARER:
            now_s = (self.epoch_ms + now) / 1000
            return OAuthBearerServer(now_s, self.signed, required_scope)
        if mechanism == PLAIN:
            return PlainServer(self._is_right)

        def find(
            name: str, mechanism: Mechanism, by_token: bool
        ) -> tuple[str, Credential, float | None] | None:
            return self._by_token(name, mechanism, now) if by_token else self._find(name, mechanism)

        return ScramServer(MECHANISMS[mechanism], find, self.draw(_NONCE_BYTES).hex())

    def new_salt(self) -> bytes:
        """Return a fresh random salt."""
        return self.draw(_SALT_BYTES)

    # -- what changes while clients run

    def set_password(self, user: str, password: str) -> None:
        """Set a user's password; open connections stay (SCRAM-5)."""
        self.passwords[user] = password
        if self._credentials is not None:
            self._credentials.set_password(user, password, self.new_salt)

    def restore_password(self, user: str) -> None:
        """Restore the password that the user had at start."""
        if user in self._first_passwords:
            self.set_password(user, self._first_passwords[user])

    def reset(self) -> None:
        """Restore users, ACLs and logins of the start. Certificates stay."""
        for user in self.passwords:
            self.restore_password(user)
        self._denied.clear()
        self._handshakes.clear()
        if self.tokens is not None:
            self.tokens.clear()
        if self.authorizer is not None:
            self.authorizer.reset()

    def began(self, login: Session) -> None:
        """Register the login of a new connection."""
        self._logins.add(login)

    def expire(self, principal: str, now: int) -> int:
        """End the sessions of a principal; return their number."""
        mine = [each for each in self._logins if each.principal == principal and each.is_done]
        for login in mine:
            login.expire(now)
        return len(mine)

    def deny(self, user: str | None, times: int) -> None:
        """Refuse the next `times` logins of a user (None: of any user)."""
        self._denied[user] = times

    def disturb_handshakes(self, handshake: Handshake, times: int) -> None:
        """Set the faults of the next handshakes, replacing earlier ones."""
        self._handshakes = [handshake] * times

    def next_handshake(self) -> Handshake | None:
        """Take the fault of the handshake that begins; None: no fault."""
        return self._handshakes.pop() if self._handshakes else None

    def is_denied(self, user: str) -> bool:
        """Use up one injected login failure for the user; return whether there was one."""
        for who in (user, None):
            left = self._denied.get(who, 0)
            if left:
                self._denied[who] = left - 1
                return True
        return False

    def _is_right(self, user: str, password: str) -> bool:
        right = self.passwords.get(user)
        return right is not None and compare_digest(right.encode(), password.encode())

    def _find(self, name: str, mechanism: Mechanism) -> tuple[str, Credential, None] | None:
        found = None if self._credentials is None else self._credentials.find(name, mechanism)
        return None if found is None else (name, found, None)

    def _by_token(
        self, name: str, mechanism: Mechanism, now: int
    ) -> tuple[str, Credential, float] | None:
        """Return the owner, credential and expiry of a delegation token (TOK-4); names of users are
        no tokens (SCRAM-4).
        """
        if self.tokens is None:
            return None
        found = self.tokens.credential(name, mechanism, self.epoch_ms + now)
        if found is None:
            return None
        token, credential = found
        return token.owner.partition(":")[2], credential, token.expires_ms / 1000
