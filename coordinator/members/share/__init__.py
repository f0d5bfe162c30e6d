"""Consumers of share groups (KIP-932): a member that heartbeats, its share sessions with the leaders
of partitions, and both together. As pure as all members."""
