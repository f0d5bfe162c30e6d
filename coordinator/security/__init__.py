"""Who a client is and what it may do: mechanisms of SASL, users and their credentials, access rules.

Pure: it is given bytes, names and random salts, and told nothing of sockets, clocks or brokers.
TLS itself is in `coordinator.net`.
"""

from __future__ import annotations
