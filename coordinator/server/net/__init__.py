"""Drivers on real sockets: servers and their listeners, the loop's clock and timer, fair turns for
connections. The only room of the broker that knows sockets and TLS; requests are handled in
`server.connections` and `server.handlers`. Begin with `server.py`.
"""

from __future__ import annotations
