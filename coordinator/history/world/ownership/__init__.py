"""Owners of partitions over time: as assigned, as seen by the members, and the times without an owner."""
