"""Share partitions at their leader (KIP-932): which records of a partition a share group has in
flight, in which state, delivered how often, and locked for whom until when.

The same verbs as in `groups` and `transactions`: requests and passing time only propose events
(`acquire`, `acknowledge`, `release`), events alone change a share partition (`evolve`), time is an
argument. Records are kept and told as ranges of offsets: one event for each request and partition.
What is in flight is lost with the leader; what the share coordinator stored (`share_states`) is
loaded by the next one. Does not depend on logs, sessions, requests and clocks.
"""
