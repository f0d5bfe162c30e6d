"""Everything that touches a socket: servers and their listeners, the loop's clock and timer, turns that are
fair. Requests and rules are those of `broker`."""

from __future__ import annotations
