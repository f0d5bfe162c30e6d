"""Share groups (KIP-932): model, events, decisions and views, as pure as the classic and the
consumer groups beside them.

Rules: time is an argument; the assignor and the topics of the cluster are injected (`environment`);
what the share coordinator is asked leaves as a value and comes back as an event (`initializing`).
Only `evolve` changes a membership. This package knows nothing of records: share partitions are
their leaders' affair.
"""
