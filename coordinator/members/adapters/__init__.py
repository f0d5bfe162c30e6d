"""Adapters for assignors: this project's assignors in other client libraries (`kafka_python` and
`aiokafka`), and theirs as assignors of this project. The libraries are imported when an adapter
is made, not before.
"""
