"""A member of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup."""

from __future__ import annotations
