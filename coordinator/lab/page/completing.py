"""The keys of scenario files as plain values, for completion in an editor. They come from
`lab.simulator.files.schema`."""

from __future__ import annotations

from typing import Any

from ..simulator.files.schema import TABLES


def keys() -> dict[str, dict[str, Any]]:
    """Return, by table ("" for the top of a file), whether it is an array, and its keys with
    their meanings and allowed words."""
    return {
        name: {
            "several": table.several,
            "keys": [
                {"key": key, "doc": spec.doc, "choices": list(spec.choices), "kind": spec.kind}
                for key, spec in table.keys.items()
            ],
        }
        for name, table in TABLES.items()
    }
