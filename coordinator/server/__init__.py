"""Brokers without their sockets: request bytes in, response bytes out, for one or several brokers.

`broker` holds one broker's parts, `apis` the table of served APIs, `handlers` one file an API,
`connections` the protocol of one connection, `cluster` the controller and replication,
`cluster_runtime` several running brokers, `storage` the logs of partitions, `settings` the
configurations. Begin with `apis.py` and `handlers/fetch.py`.

Only `net` knows sockets, TLS and the loop's clock; all other modules get the time as an
argument. Never imports members, history or the testing kit.
"""

from __future__ import annotations
