"""Our assignors inside other client libraries, and theirs as ours: `kafka_python` and `aiokafka`.

The libraries are imported when an adapter is made, not before.
"""
