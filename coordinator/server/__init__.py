"""Brokers without their sockets: bytes in, answers out, one or several of them.

`broker` holds one broker's parts, `apis` the table of what is served, `handlers` one file an API,
`connections` the protocol of one connection, `cluster` the controller and replication,
`cluster_runtime` several brokers at work, `storage` the logs of partitions, `settings` the
configurations. Begin with `apis.py` and `handlers/fetch.py`.

Only `net` knows sockets, TLS and the loop's clock; everything else is told the time. Never imports
members, history or the testing kit.
"""

from __future__ import annotations
