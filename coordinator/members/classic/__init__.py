"""Member of the classic protocol: JoinGroup, SyncGroup, Heartbeat, LeaveGroup. `member.py` is the
entry point; `joining`, `leading`, `heartbeats` and `leaving` have the parts. Knows only
responses, never a group.
"""

from __future__ import annotations
