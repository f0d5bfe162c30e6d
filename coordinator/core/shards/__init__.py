"""The partitions of __consumer_offsets, each with the groups that live on it.

`durable` is what a partition keeps of its groups; whoever leads the partition makes a `shard` of it
by a `load`. `journal` is where events are written down, `availability` says which partitions are
led, `timers` and `causes` serve the shard.
"""
