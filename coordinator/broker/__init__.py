"""One broker without its sockets: connections of bytes, requests decoded, dispatched to one handler
an API, answered in order.

`core` holds the broker and what a handler is given, `apis` the table of what is served,
`connection` the protocol of one connection, `handlers` one file an API. Nothing here knows asyncio,
sockets or the time of day: a driver brings all three.
"""

from __future__ import annotations
