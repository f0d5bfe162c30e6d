"""Lost time: how long nobody worked on a partition that a group reads, and which members did
nothing meanwhile.

The only place that decides it. The page draws it; `coordinator explain`, the tables and
`/metrics` tell its sums. Begin with `fold.py`, which reads the lines; `partitions.py` has the
owners of partitions and the sums, `processes.py` the activity of members, and `rebalances.py`
what each rebalance cost.
"""
