"""The controller: who is alive, who leads what, who is in sync, and where partitions are on their
way to.

`core.Controller` is what others use: it decides, folds its own events into its `Cluster`, and
publishes them. `partition_change` computes a partition's next registration, `quorum` who is the
controller. Pure: time is told. Does not depend on logs of partitions, groups, connections and how
events travel to brokers.
"""

from __future__ import annotations

from .controller import Controller

__all__ = ["Controller"]
