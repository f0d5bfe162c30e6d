"""Requests' meaning for the broker, found by `server.apis`: `handle(broker, call)` in a file of the
API's name. Small APIs that belong together share a file, with a function of each one's name.

A handler returns the response, None if the request is parked (`Broker.answer` follows), or a
`Special` of `server.broker`; it raises `NoRequest` of there for what Kafka takes as no request at
all.
"""

from __future__ import annotations
