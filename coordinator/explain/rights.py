"""Why somebody may not do something, in words: which ACL denies it, or allowed it until it was
deleted."""

from __future__ import annotations

from ..event_log.reader import Line
from .words import instant, printable


def asked(line: Line) -> str:
    """The request that was refused, as Kafka calls it."""
    return "".join(part.capitalize() for part in printable(str(line["api"])).split("_"))


def why_refused(line: Line) -> str:
    """The reason of an `AuthorizationRefused`."""
    who, operation = printable(line["principal"]), printable(line["operation"])
    cluster = line["resource"] == "cluster"
    about = "the cluster" if cluster else f"{line['resource']} {printable(line['name'])}"
    about = about.replace("_", " ") if cluster else about
    acl, deleted_ms = line.get("acl"), line.get("acl_deleted_ms")
    if acl is not None and deleted_ms is None:
        return f"an ACL denies it: {printable(acl)}"
    told = f"no ACL allows {who} {operation} on {about}"
    if acl is None or deleted_ms is None:
        return told
    return f"{told}; the one that did was deleted at {instant(deleted_ms)}"
