"""Scenarios in real time: the members, churn and faults of a scenario file on real sockets, against
brokers of our own or any Kafka.

Members, producers, churn and faults are the simulator's; time and connections are real. Faults
of members' links, hosts and processes happen on the clients' side of the sockets, so they work
against any broker. `coordinator.lab.simulator.files.worlds` says what is possible in which
world. Begin with `run.py`.
"""

from __future__ import annotations
