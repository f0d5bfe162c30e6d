"""The control port: everything of the testing kit over HTTP and JSON, for tests that are not
written in Python (docs/control.md).

Owns one table of operations (`operations`), from which the routes, the checks of what comes in and
`/openapi.json` are made. The words are those of `coordinator.kit`: nothing here has a word of
its own. `serving` and `application` need the extra `control`; `remote`, the same API as the kit's
on the other side of the wire, needs the standard library only.
"""

from __future__ import annotations
