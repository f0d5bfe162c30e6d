"""SASL authentication of one connection, and re-authentication (KIP-43, KIP-152, KIP-255, KIP-368).

Owns which request may come next, the mechanism, and the end of the session. Takes requests as
values and returns the outcome; delays, frames and responses are the connection's
(`connections.secured`). Rules: SASL-1 to SASL-7, REAUTH-1 to REAUTH-3.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from coordinator.base.java_hash import in_hash_order, java_hash
from coordinator.wire.sasl.login import BadLogin, BrokenExchange, LoginRefused

from .tokens import TokenPrincipal

if TYPE_CHECKING:
    from .listeners import ListenerSecurity
    from .security import Exchange, Security

_RENEWALS_APART_MS = 1_000
USER = "User"


class Stage(Enum):
    """The next expected step of a login."""

    HANDSHAKE = auto()
    """SaslHandshake, or one ApiVersions before it."""
    TOKENS = auto()
    """SaslAuthenticate."""
    BARE_TOKENS = auto()
    """Frames that are tokens and nothing else, after SaslHandshake v0 (SASL-5)."""
    DONE = auto()
    """Any request: the client is logged in."""
    FAILED = auto()
    """Nothing: the connection is about to close."""


class Failed(NamedTuple):
    """Failure of a login. `text`: the error message for the client, None: no answer. `delayed`: the
    answer is delayed. `why`: the reason for the event log.
    """

    text: str | None
    why: str
    delayed: bool = True


class Passed(NamedTuple):
    """Success of a message. `data`: the server's answer. `lifetime_ms`: of the session, 0: without
    limit.
    """

    data: bytes
    lifetime_ms: int = 0


class Login:
    """SASL state of one connection."""

    def __init__(self, security: Security, listener: ListenerSecurity) -> None:
        self._security = security
        self._listener = listener
        self.stage = Stage.HANDSHAKE
        self.principal = ""
        """The authenticated principal, such as User:billing."""
        self.mechanism = ""
        self.claimed = ""
        """The name that the client claims, while it is not authenticated."""
        self.asked_versions = False
        self.renewing = False
        self._exchange: Exchange | None = None
        self._ends_at: int | None = None
        self._renewed_at: int | None = None
        self._logged_in_by = ""
        security.began(self)

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The listener's mechanisms in Kafka's order (HM-2)."""
        return tuple(in_hash_order(self._listener.mechanisms, java_hash))

    def handshake(self, mechanism: str, version: int) -> bool:
        """Choose a mechanism; return False if the listener does not have it (SASL-4)."""
        if mechanism not in self._listener.mechanisms:
            self.stage = Stage.FAILED
            return False
        self.mechanism = mechanism
        self._exchange = None
        self.stage = Stage.TOKENS if version else Stage.BARE_TOKENS
        return True

    def token(self, data: bytes, now: int) -> Passed | Failed:
        """Handle the client's next message of the mechanism."""
        if self._exchange is None:
            if self.renewing and self.mechanism != self._logged_in_by:  # REAUTH-3
                return self._failed(
                    None,
                    f"a session that began with {self._logged_in_by} cannot be renewed with {self.mechanism}",
                )
            self._exchange = self._security.exchange(
                self.mechanism, now, self._listener.required_scope
            )
        exchange = self._exchange
        try:
            answer = exchange.evaluate(data)
        except LoginRefused as refused:
            self.claimed = exchange.user
            return self._failed(str(refused), str(refused))
        except BadLogin:
            self.claimed = exchange.user
            return self._failed(self._bad, self._bad)
        except BrokenExchange as broken:
            self.claimed = exchange.user
            return self._failed(None, str(broken), delayed=False)
        if not exchange.complete:
            return Passed(answer)
        if self._security.is_denied(exchange.user):
            self.claimed = exchange.user
            return self._failed(self._bad, f"{self._bad} (asked for by the testing kit)")
        principal = f"{USER}:{exchange.user}"
        if getattr(exchange, "by_token", False):
            principal = TokenPrincipal(principal)
        if self.renewing and principal != self.principal:
            self.claimed = exchange.user
            before, after = self.principal.replace(":", ".", 1), principal.replace(":", ".", 1)
            text = f"Cannot change principals during re-authentication from {before}: {after}"
            return self._failed(text, text)
        return Passed(answer, self._logged_in(principal, now, exchange.ends_at_s))

    def _logged_in(self, principal: str, now: int, ends_at_s: float | None) -> int:
        self.principal = principal
        self._logged_in_by = self.mechanism
        self._exchange = None
        self.renewing = False
        self.stage = Stage.DONE
        lifetime_ms = self._listener.max_reauth_ms.get(self.mechanism, 0)
        if ends_at_s is not None:  # OAUTH-3
            left_ms = max(0, int(ends_at_s * 1000) - self._security.epoch_ms - now)
            lifetime_ms = min(lifetime_ms, left_ms) if lifetime_ms else left_ms
        self._ends_at = now + lifetime_ms if lifetime_ms or ends_at_s is not None else None
        return lifetime_ms

    def _failed(self, text: str | None, why: str, *, delayed: bool = True) -> Failed:
        self.stage = Stage.FAILED
        return Failed(text, why, delayed)

    @property
    def _bad(self) -> str:
        doing = "re-authentication" if self.renewing else "authentication"
        return f"Authentication failed during {doing} due to invalid credentials with SASL mechanism {self.mechanism}"

    # -- a session that lasts for a while

    def is_over(self, now: int) -> bool:
        """Return True if the session has expired: only re-authentication is accepted (REAUTH-1)."""
        return self._ends_at is not None and now > self._ends_at

    def renews(self, now: int) -> bool:
        """Start a re-authentication by a SaslHandshake; return False if it is not allowed now
        (SASL-6, REAUTH-2).
        """
        if self._ends_at is None:
            return False
        if self._renewed_at is not None and now - self._renewed_at < _RENEWALS_APART_MS:
            return False
        self._renewed_at = now
        self.renewing = True
        self.stage = Stage.HANDSHAKE
        return True

    @property
    def is_done(self) -> bool:
        """True if the client is authenticated."""
        return self.stage is Stage.DONE

    def expire(self, now: int) -> None:
        """End the session now."""
        if self.stage is Stage.DONE:
            self._ends_at = min(now - 1, now if self._ends_at is None else self._ends_at)
