"""Translates the OpenAPI document to version 3.0, for generators of clients that do not read 3.1.

What 3.0 cannot express becomes the nearest form: `const` an `enum` of one value, null
`nullable`, and a value of several types any value, with a description that names the types. This
module must not know what the document describes.
"""

from __future__ import annotations

from typing import Any, Final

VERSION: Final = "3.0.3"
_NULL: Final = "null"


def as_3_0(document: dict[str, Any]) -> dict[str, Any]:
    """Return the document in version 3.0. The argument is not changed."""
    return {name: _walked(each) for name, each in document.items()} | {"openapi": VERSION}


def _walked(value: Any) -> Any:
    """Return a part of the document with its schemas translated."""
    if isinstance(value, list):
        return [_walked(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {
        name: _schemas(each)
        if name == "schemas"
        else _schema(each)
        if name == "schema"
        else _walked(each)
        for name, each in value.items()
    }


def _schemas(named: dict[str, Any]) -> dict[str, Any]:
    return {name: _schema(each) for name, each in named.items()}


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = schema.get("type")
    if isinstance(kinds, list):
        rest = {name: each for name, each in schema.items() if name != "type"}
        return _union([{"type": kind} | (rest if kind != _NULL else {}) for kind in kinds], {})
    if "anyOf" in schema:
        rest = {name: each for name, each in schema.items() if name != "anyOf"}
        return _union(schema["anyOf"], rest)
    made = dict(schema)
    if "const" in made:
        made["enum"] = [made.pop("const")]
    if "enum" in made and "type" not in made:
        made |= _kind_of(made["enum"])
    if "prefixItems" in made:
        size = len(made.pop("prefixItems"))
        made |= {"items": {}, "minItems": size, "maxItems": size}
    if "properties" in made:
        made["properties"] = _schemas(made["properties"])
    for name in ("items", "additionalProperties"):
        if isinstance(made.get(name), dict):
            made[name] = _schema(made[name])
    if "oneOf" in made:
        made["oneOf"] = [_schema(each) for each in made["oneOf"]]
    return made


def _union(options: list[dict[str, Any]], rest: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value that has one of several types."""
    others = [each for each in options if each.get("type") != _NULL]
    nullable = {"nullable": True} if len(others) < len(options) else {}
    if len(others) == 1:
        return _schema(others[0] | rest) | nullable
    kinds = " or ".join(dict.fromkeys(str(each.get("type", "text")) for each in others))
    said = f"{rest['description']} ({kinds})" if "description" in rest else kinds
    return {"description": said} | nullable


def _kind_of(values: list[Any]) -> dict[str, str]:
    """Return the common type of these values as a schema, or an empty schema if they have
    several."""
    if all(isinstance(each, bool) for each in values):
        return {"type": "boolean"}
    if all(isinstance(each, int) for each in values):
        return {"type": "integer"}
    return {"type": "string"} if all(isinstance(each, str) for each in values) else {}
