"""The share coordinator's state of each share partition (KIP-932): where it starts, and the
states of the records behind that, with the epochs that fence former writers.

The same verbs as in `groups`: requests only propose events (`decide`), events alone change a state
(`evolve`), the wall clock is an argument. A share partition is a partition as one share group reads
it; its leader writes here, and whoever leads it next reads. Does not depend on leaders, logs and
groups.
"""
