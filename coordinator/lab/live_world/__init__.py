"""Scenarios in real time: the members, churn and faults of a scenario file on real sockets, against
brokers of our own or any Kafka.

Members, producers, churn and faults are the simulator's; only time and connections are others.
Faults of members' links, hosts and processes happen on our side of the sockets, so they work
against any broker. What can be done in which world is said by `coordinator.lab.simulator.files.worlds`.
"""

from __future__ import annotations
