"""One file an API: what a request means for the broker. Each has `handle(broker, call)`, found by
`broker.apis`.

A handler returns the response, None if the request is parked (`Broker.answer` follows), or a
`Special` of `broker.core`; it raises `NoRequest` of there for what Kafka takes as no request at
all.
"""

from __future__ import annotations
