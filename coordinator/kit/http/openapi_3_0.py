"""The OpenAPI document in its form 3.0, for generators of clients that do not read 3.1.

Owns the translation alone: what 3.0 cannot say becomes the nearest that it can. `const` is an
`enum` of one, null is `nullable`, a value of several kinds is any value, whose description names
them. It does not depend on what is described.
"""

from __future__ import annotations

from typing import Any, Final

VERSION: Final = "3.0.3"
_NULL: Final = "null"


def as_3_0(document: dict[str, Any]) -> dict[str, Any]:
    """The same document in the other form. What it is given is not changed."""
    return {name: _walked(each) for name, each in document.items()} | {"openapi": VERSION}


def _walked(value: Any) -> Any:
    """A part of the document, with the schemas in it translated."""
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
    """A value of one of several kinds."""
    others = [each for each in options if each.get("type") != _NULL]
    nullable = {"nullable": True} if len(others) < len(options) else {}
    if len(others) == 1:
        return _schema(others[0] | rest) | nullable
    kinds = " or ".join(dict.fromkeys(str(each.get("type", "text")) for each in others))
    said = f"{rest['description']} ({kinds})" if "description" in rest else kinds
    return {"description": said} | nullable


def _kind_of(values: list[Any]) -> dict[str, str]:
    """The type of values that are all of one."""
    if all(isinstance(each, bool) for each in values):
        return {"type": "boolean"}
    if all(isinstance(each, int) for each in values):
        return {"type": "integer"}
    return {"type": "string"} if all(isinstance(each, str) for each in values) else {}
