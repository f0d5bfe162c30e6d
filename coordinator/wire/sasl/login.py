"""Errors of a login that fails, common to all mechanisms."""

from __future__ import annotations

OTHER_AUTHORIZATION_ID = (
    "Authentication failed: Client requested an authorization id that is different from username"
)


class LoginRefused(Exception):
    """The client is told this text with SASL_AUTHENTICATION_FAILED."""


class ForeignAuthorizationId(LoginRefused):
    """A client wants to act as somebody else than it logs in as (SASL-7, SCRAM-3)."""

    def __init__(self) -> None:
        super().__init__(OTHER_AUTHORIZATION_ID)


class BadLogin(Exception):
    """Refused with the one text that names only the mechanism."""


class BrokenExchange(Exception):
    """The connection is closed without an answer: Kafka's server fails unforeseen. `str()` says
    why."""
