"""Membership in the classic protocol: JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

`model` is the state, `decide` proposes events for a request, `settle` proposes what then follows
from the state, `evolve` folds one event and is the only writer, `responses` builds the responses
to parked requests that an event answers. Does not know sessions or clients; `shards` does.
"""
