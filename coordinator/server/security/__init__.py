"""Identity and rights of clients: SASL mechanisms, users and their credentials, access rules.

Pure: it is given bytes, names and random salts, and told nothing of sockets, clocks or brokers.
TLS itself is in `coordinator.server.net`.
"""

from __future__ import annotations
