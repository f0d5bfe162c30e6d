"""Transactions as their coordinator knows them (KIP-98, KIP-360, KIP-890): who produces under a
transactional id, what is in the open transaction, and how it ends.

The same four thoughts as in `groups`: requests and passing time only propose events (`decide`),
events alone change a transaction (`evolve`), time is an argument, producer ids are drawn outside.
What is written to partitions (markers) and to groups (offsets) is told to the caller, who has them.
"""
