"""Several brokers in one process: the controller, the brokers, and the messages between them.

`runtime.Brokers` has the same four entry points as a `Broker` (`next_deadline`, `tick`,
`run_resumable`, `shut_down`), so one loop and one timer serve all brokers. Pure: time is given.
Does not depend on sockets. Begin with `runtime.py`, then `hosts.py`.
"""

from __future__ import annotations

from .hosts import Hosts
from .options import ClusterError, ClusterOptions
from .runtime import Brokers

__all__ = ["Brokers", "ClusterError", "ClusterOptions", "Hosts"]
