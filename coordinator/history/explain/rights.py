"""Sentences about missing rights: which ACL denies a request, or allowed it until it was
deleted."""

from __future__ import annotations

from coordinator.events.wire import AuthorizationRefused

from .formatting import instant, printable


def asked(api: str) -> str:
    """Return the request that was refused, as Kafka calls it."""
    return "".join(part.capitalize() for part in printable(api).split("_"))


def why_refused(event: AuthorizationRefused) -> str:
    """Return why a request lacks a permission, as a clause."""
    who, operation = printable(event.principal), printable(event.operation)
    cluster = event.resource == "cluster"
    about = "the cluster" if cluster else f"{event.resource} {printable(event.name)}"
    about = about.replace("_", " ") if cluster else about
    acl, deleted_ms = event.acl, event.acl_deleted_ms
    if acl is not None and deleted_ms is None:
        return f"an ACL denies it: {printable(acl)}"
    told = f"no ACL allows {who} {operation} on {about}"
    if acl is None or deleted_ms is None:
        return told
    return f"{told}; the one that did was deleted at {instant(deleted_ms)}"
