"""Admission of HTTP requests by Host, Origin, token and content type.

The Host of a request must be loopback or the advertised name, so that a page whose host name was
rebound to this machine gets nothing. A browser's Origin is refused unless it is allowed. Beyond
loopback a token is needed. A body must be declared as JSON, which a form of another site cannot
do. This module reads headers only.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from ipaddress import ip_address

from .problems import Problem


@dataclass(frozen=True, slots=True)
class Guard:
    """`hosts`: allowed host names besides loopback. `origins`: allowed origins. `token`: "" for
    none."""

    hosts: Collection[str] = ()
    origins: Collection[str] = ()
    token: str = ""

    def objection(self, method: str, headers: Mapping[str, str], path: str) -> Problem | None:
        """Return the reason to refuse a request, or None to admit it."""
        host = _name(headers.get("host", ""))
        if not _is_loopback(host) and host not in self.hosts:
            known = ", ".join(("localhost", *self.hosts))
            return Problem(
                403,
                f"Host {host!r} is not a name of this port: call it by {known}, or advertise that name",
                "HostRefused",
            )
        origin = headers.get("origin")
        if origin is not None and origin not in self.origins:
            return Problem(
                403,
                f"Origin {origin!r} is not allowed: start with --control-allow-origin {origin}",
                "OriginRefused",
            )
        if method == "OPTIONS":
            return None
        if self.token and not secrets.compare_digest(_token(headers).encode(), self.token.encode()):
            said = "the token is wrong" if _token(headers) else "a token is needed"
            whose = "<the token of COORDINATOR_CONTROL_TOKEN, or of the ready: line>"
            return Problem(401, f"{said}: send Authorization: Bearer {whose}", "TokenRefused")
        if method in ("POST", "PUT", "PATCH"):
            kind = headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json" and (kind or _has_body(headers)):
                return Problem(
                    415,
                    f"Content-Type {kind!r}: send a JSON body, with Content-Type: application/json",
                    "ContentTypeRefused",
                )
        return None


def _has_body(headers: Mapping[str, str]) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.partition(":")[0].lower()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _token(headers: Mapping[str, str]) -> str:
    kind, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else ""
