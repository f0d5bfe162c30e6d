"""Operations on faults: add, list, wait until requests met them, release held requests, remove.
Their names are those of `coordinator.kit.faults`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ... import faults as f
from ..as_text import each
from ..json_values import DONE, FLAG, NUMBER, TEXT, list_of, object_of
from ..operation import Raw, operation
from ..port import Port, timeout_of, until
from ..shapes import told

if TYPE_CHECKING:
    from ...injection.fault_board import FaultHandle


def fault_schema() -> dict[str, Any]:
    """Return the JSON Schema of a fault, from its data."""
    properties: dict[str, Any] = {
        "action": {
            "enum": list(f.ACTIONS),
            "description": "what happens to the selected requests",
        }
    }
    for action in f.ACTIONS.values():
        for entry in fields(action):
            known = {
                "error": {
                    "type": ["string", "integer"],
                    "description": "Kafka's error, by name or number",
                }
            }
            kind = {"type": "boolean"} if entry.type == "bool" else {"type": "integer"}
            properties[entry.name] = known.get(entry.name, kind) | {
                "description": f"of {_whose(entry.name)}"
            }
    for entry in fields(f.Selector):
        properties[entry.name] = {
            "type": "integer" if "int" in str(entry.type) else "string",
            "description": "which requests",
        }
    properties["api"] |= {"enum": list(f.API_NAMES)}
    properties["phase"] |= {"enum": [*f.PHASES, *dict.fromkeys(f.PHASES.values())]}
    properties |= {
        "nth": {
            "type": "integer",
            "default": 1,
            "description": "number of the first selected request that it applies to",
        },
        "times": {
            "type": ["integer", "null"],
            "description": "number of requests that it applies to (default: all)",
        },
        "probability": {"type": "number", "default": 1, "description": "above 0, at most 1"},
        "name": {"type": "string"},
        "may_miss": {"type": "boolean", "default": False},
        "missing_ok": {
            "type": "boolean",
            "default": False,
            "description": "accept a topic or partition that does not exist yet",
        },
        "any_error": {
            "type": "boolean",
            "default": False,
            "description": "accept an error with which no broker answers this API",
        },
    }
    return {
        "type": "object",
        "properties": properties,
        "required": ["action"],
        "additionalProperties": False,
    }


def _whose(name: str) -> str:
    return ", ".join(
        kind
        for kind, action in f.ACTIONS.items()
        if name in [entry.name for entry in fields(action)]
    )


FAULT = object_of(
    fault_id=NUMBER,
    number=NUMBER | {"deprecated": True, "description": "older name of fault_id"},
    text=TEXT,
    fault=fault_schema(),
    in_force=FLAG,
    hits=NUMBER,
    seen=NUMBER,
    held=NUMBER,
)
"""JSON Schema of a fault in force and the number of requests that met it."""


def numbered(fault: dict[str, Any]) -> str:
    """Return a fault as text: its id, by which `ctl fault` names it, and its effect."""
    return f"{fault['fault_id']}: {fault['text']}"


@dataclass(frozen=True, slots=True)
class Hits:
    """A number of requests that are to meet a fault."""

    hits: int = told("number of requests", 1)
    timeout: float | None = told("seconds to wait (30)", None)


@dataclass(frozen=True, slots=True)
class Release:
    """The number of held requests to release."""

    count: int | None = told("number of requests, the longest held first (default: all)", None)


@operation(
    "POST",
    "/faults",
    summary=(
        'Add a fault, such as {"action": "fail", "error": "REBALANCE_IN_PROGRESS", "api": '
        '"OffsetCommit", "group": "billing", "times": 1}.'
    ),
    body=Raw,
    schema=fault_schema(),
    answer=FAULT,
    tell=numbered,
)
def fault_add(port: Port, body: Raw) -> Any:
    return shown(port.kafka.add_fault(f.from_plain(body.plain)))


@operation(
    "GET",
    "/faults",
    summary="List the faults in force.",
    answer=object_of(faults=list_of(FAULT)),
    tell=each("faults", "{fault_id}: {text}"),
)
def fault_list(port: Port, body: Any) -> Any:
    return {"faults": [shown(fault) for fault in port.kafka.faults()]}


@operation(
    "GET",
    "/faults/missed",
    summary="List faults that no request has met, except those declared as optional.",
    answer=object_of(faults=list_of(TEXT)),
    tell=lambda answer: "\n".join(answer["faults"]),
)
def fault_missed(port: Port, body: Any) -> Any:
    return {"faults": port.kafka.missed_faults()}


@operation("DELETE", "/faults", summary="Delete all faults; held requests continue.", answer=DONE)
def fault_clear(port: Port, body: Any) -> Any:
    port.kafka.clear_faults()
    return {"done": True}


@operation(
    "GET",
    "/faults/{fault_id}",
    summary="Show one fault: how many requests it selected (seen), applied to (hits) and holds "
    "(held).",
    answer=FAULT,
)
def fault_describe(port: Port, body: Any, fault_id: str) -> Any:
    return shown(port.fault(fault_id))


@operation(
    "POST",
    "/faults/{fault_id}/wait",
    summary="Wait until this number of requests have met the fault. Status 409 after the timeout.",
    body=Hits,
    answer=FAULT,
    waits=True,
)
async def fault_wait(port: Port, body: Hits, fault_id: str) -> Any:
    handle, timeout = port.fault(fault_id), timeout_of(body.timeout)
    future = handle.begin_hit(body.hits)
    if not await until(future, timeout):
        future.cancel()
        raise handle.not_hit(body.hits, timeout)
    return shown(handle)


@operation(
    "POST",
    "/faults/{fault_id}/release",
    summary="Release requests that the fault holds. The answer contains their number.",
    body=Release,
    answer=object_of(released=NUMBER),
)
def fault_release(port: Port, body: Release, fault_id: str) -> Any:
    return {"released": port.fault(fault_id).release(body.count)}


@operation(
    "DELETE",
    "/faults/{fault_id}",
    summary="Delete the fault; held requests continue.",
    answer=DONE,
)
def fault_remove(port: Port, body: Any, fault_id: str) -> Any:
    port.fault(fault_id).remove()
    return {"done": True}


def shown(fault: FaultHandle) -> dict[str, Any]:
    """Return a fault in force as JSON values."""
    return {
        "fault_id": fault.number,
        "number": fault.number,
        "text": str(fault),
        "fault": f.to_plain(fault.fault),
        "in_force": fault.in_force,
        "hits": fault.hits,
        "seen": fault.seen,
        "held": fault.held,
    }
