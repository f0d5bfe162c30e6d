"""Share groups (KIP-932): model, decisions and views of their membership.

Time is an argument; the assignor and the cluster's topics are injected (`environment`); requests
to the share coordinator are returned as values, and its answers come back as events
(`initializing`). Only `evolve` changes a membership. Does not know records: they belong to
`core.share_partitions`. Begin with `model.py` and `heartbeat.py`.
"""
