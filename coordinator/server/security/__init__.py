"""Authentication and authorization of clients: SASL mechanisms, users and credentials, principals,
ACLs, delegation tokens, quotas.

Pure: gets bytes, names and random salts; knows no sockets, clocks or brokers. TLS itself is in
`coordinator.server.net`. Begin with `security.py` and `sasl.py`.
"""

from __future__ import annotations
