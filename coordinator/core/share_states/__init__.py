"""Stored states of share partitions at the share coordinator (KIP-932): the start offset, the
states of the records behind it, and the epochs that fence former writers.

Requests only propose events (`decide`), events alone change a state (`evolve`), the wall clock
is an argument. A share partition's leader writes here, and the next leader reads. Does not know
leaders, logs or groups. Begin with `model.py` and `decide.py`.
"""
