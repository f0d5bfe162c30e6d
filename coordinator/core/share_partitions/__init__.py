"""Share partitions at their leader (KIP-932): the records that a share group has in flight, with
their states, delivery counts and acquisition locks.

Requests and time only propose events (`acquire`, `acknowledge`, `release`), events alone change
a share partition (`evolve`), time is an argument. Records are stored and logged as ranges of
offsets: one event for each request and partition. State in flight is lost with the leader; the
next one loads the state that the share coordinator stored (`share_states`). Does not know logs,
sessions, requests or clocks. Begin with `states.py` and `model.py`.
"""
