"""Several brokers in one process: the cluster's controller, its brokers, and what passes between
them.

`runtime.Brokers` is what drivers hold: it has the same four entry points as a `Broker`
(`next_deadline`, `tick`, `run_resumable`, `shut_down`), so one loop and one timer serve all
brokers. Pure: time is told. Does not depend on sockets.
"""

from __future__ import annotations

from .hosts import Hosts
from .options import ClusterError, ClusterOptions
from .runtime import Brokers

__all__ = ["Brokers", "ClusterError", "ClusterOptions", "Hosts"]
