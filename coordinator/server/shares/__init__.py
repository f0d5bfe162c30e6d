"""Share groups at one broker: share sessions, the share partitions of partitions that it leads, and
the share coordinator's state. The rules are in `core.share_partitions` and `core.share_states`;
handlers translate requests. Begin with `service.py`, then `partitions.py`.
"""
