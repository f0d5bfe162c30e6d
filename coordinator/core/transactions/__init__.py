"""Transactions at their coordinator (KIP-98, KIP-360, KIP-890): the producer of a transactional id,
the partitions of its open transaction, and its end.

Requests and time only propose events (`decide`), events alone change a transaction (`evolve`),
time is an argument, producer ids are drawn by the caller. Writes to partitions (markers) and
groups (offsets) are returned to the caller. Begin with `states.py`, then `decide.py`.
"""
