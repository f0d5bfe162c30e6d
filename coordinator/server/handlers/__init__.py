"""Handlers of requests, one file an API: `handle(broker, call)`, found by `server.apis`. Small
related APIs share a file, with a function named after each.

A handler returns the response, None if the request is parked (`broker.parked.answer` follows), a
`Sliced` for work in slices, or a `Special` (`server.requests.call`). It raises `NoRequest` for a
request for which Kafka closes the connection. Handlers know nothing of connections; begin with
`offset_for_leader_epoch.py`, then `fetch.py`.
"""

from __future__ import annotations
