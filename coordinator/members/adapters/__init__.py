"""Adapters for assignors: ours in other client libraries, and theirs as ours, for `kafka_python`
and `aiokafka`. The libraries are imported when an adapter is made, not before.
"""
