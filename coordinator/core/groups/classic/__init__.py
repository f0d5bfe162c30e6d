"""Membership in the classic protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

`model` is the state, `decide` proposes events for a request, `settle` proposes what then follows
from the state, `evolve` folds one event and is the only writer, `responses` names the parked
requests that an event answers, and with what.
"""
