"""The controller: broker registration and fencing, leader election, the ISR, and reassignments.

`controller.Controller` is the entry point: it decides, applies its own events to its `Cluster`,
and publishes them. `partition_change` computes a partition's next registration, `quorum` elects
the controller. Pure: time is given. Does not know partition logs, groups, connections, nor how
events travel to brokers.
"""

from __future__ import annotations

from .controller import Controller

__all__ = ["Controller"]
