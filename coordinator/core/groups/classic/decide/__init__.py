"""Decisions about a classic group's requests: (group, request, context, now, config) -> Decision.
One module for each kind of request; none of them writes.

A refusal changes nothing in the group, except where a rule names the event (MID-3, JOIN-2,
SIZE-1).
"""
