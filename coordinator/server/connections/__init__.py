"""One connection as bytes: frames in, requests handled, answers out, and the events that log them.
`connection.py` cuts frames and keeps the order, `exchange.py` processes one request,
`secured.py` adds SASL and ACLs. Sockets are in `net`.
"""

from __future__ import annotations
