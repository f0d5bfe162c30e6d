"""The control port: the testing kit over HTTP and JSON, for tests that are not written in Python
(docs/control.md).

One table of operations (`operations/`) gives the routes, the checks of requests and
`/openapi.json`. An operation uses the names of `coordinator.kit` and adds none. `serving` and
`application` need the extra `control`; `remote`, the kit's API at the other end of the port,
needs the standard library alone. Begin with `operation.py`.
"""

from __future__ import annotations
