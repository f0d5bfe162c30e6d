"""The OpenAPI document of the control port, made from the table of operations."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from coordinator.base.version import __version__

from .operation import Nothing, Operation, Raw
from .problems import SCHEMA
from .shapes import schema
from .table import all_operations

_EXTRA: dict[str, Any] = {
    "/events/stream": {
        "get": {
            "operationId": "event_stream",
            "tags": ["events"],
            "summary": "The event log as server-sent events: each line as `data`, its `seq` as `id`. "
            "It begins with what there is from `since` (or Last-Event-ID) on, and goes on until the client hangs up.",
            "parameters": [
                {"name": name, "in": "query", "schema": {"type": kind}, "required": False}
                for name, kind in (
                    ("type", "string"),
                    ("group", "string"),
                    ("stream", "string"),
                    ("since", "integer"),
                )
            ],
            "responses": {
                "200": {
                    "description": "lines",
                    "content": {"text/event-stream": {"schema": {"type": "string"}}},
                }
            },
        }
    },
    "/metrics": {
        "get": {
            "operationId": "metrics",
            "tags": ["metrics"],
            "summary": "Metrics in Prometheus' text format, by Kafka's own names of the group coordinator's.",
            "responses": {
                "200": {
                    "description": "metrics",
                    "content": {"text/plain": {"schema": {"type": "string"}}},
                }
            },
        }
    },
}


def document() -> dict[str, Any]:
    """Return the whole document as JSON values."""
    paths: dict[str, Any] = {}
    for entry in all_operations().values():
        paths.setdefault(entry.path, {})[entry.method.lower()] = _operation(entry)
    for path, extra in _EXTRA.items():
        paths.setdefault(path, {}).update(extra)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Kafka group coordinator: control port",
            "version": __version__,
            "description": "Verbs, faults, waits and views of a running emulator, in the words of its testing kit.",
        },
        "paths": paths,
        "components": {
            "schemas": {"Problem": SCHEMA},
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "needed beyond loopback",
                }
            },
        },
        "security": [{}, {"token": []}],
    }


def _operation(entry: Operation) -> dict[str, Any]:
    about: dict[str, Any] = {
        "operationId": entry.name,
        "tags": [entry.tag],
        "summary": entry.summary,
        "responses": {
            "200": {
                "description": "it was done",
                "content": {"application/json": {"schema": entry.answer}},
            },
            **(
                {
                    "409": {
                        "description": "it does not hold",
                        "content": {"application/json": {"schema": entry.answer}},
                    }
                }
                if entry.judges
                else {}
            ),
            "default": {
                "description": "it was not",
                "content": {
                    "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
                },
            },
        },
    }
    given = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", entry.path)
    ]
    shape = entry.schema or schema(entry.body)
    if entry.method == "POST":
        needed = bool(shape.get("required")) or entry.body is Raw
        about["requestBody"] = {
            "required": needed,
            "content": {"application/json": {"schema": shape}},
        }
    elif entry.body is not Nothing:
        required = shape.get("required", [])
        for field in fields(entry.body):
            property_ = dict(shape["properties"][field.name])
            said = property_.pop("description", "")
            given.append(
                {
                    "name": field.name,
                    "in": "query",
                    "required": field.name in required,
                    "description": said,
                    "schema": property_,
                }
            )
    if given:
        about["parameters"] = given
    return about
