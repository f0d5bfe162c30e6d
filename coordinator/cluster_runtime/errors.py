"""What cannot be done to a cluster."""

from __future__ import annotations


class ClusterError(ValueError):
    """Something that cannot be done to a cluster: what, what there is, and what would be right."""
