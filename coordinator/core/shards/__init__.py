"""The partitions of __consumer_offsets, each with the groups that live on it.

`durable` stores a partition's events; the partition's leader makes a `shard` of them by a
`load`. `journal` has the interface of the event log, `availability` knows which partitions are
led, `timers` and `causes` serve the shard. Begin with `shard.py`.
"""
