"""Errors of a failed login, common to all mechanisms."""

from __future__ import annotations

OTHER_AUTHORIZATION_ID = (
    "Authentication failed: Client requested an authorization id that is different from username"
)


class LoginRefused(Exception):
    """A refusal whose text is sent to the client with SASL_AUTHENTICATION_FAILED."""


class ForeignAuthorizationId(LoginRefused):
    """A client wants to act as another user than the one it logs in as (SASL-7, SCRAM-3)."""

    def __init__(self) -> None:
        super().__init__(OTHER_AUTHORIZATION_ID)


class BadLogin(Exception):
    """A refusal whose text names only the mechanism."""


class BrokenExchange(Exception):
    """An exchange after which the connection is closed without a response, because Kafka's server
    fails with an unexpected error. `str()` says why.
    """
