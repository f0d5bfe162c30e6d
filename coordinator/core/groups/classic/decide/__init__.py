"""A request's effect on a group: (group, request, now) -> Decision. One module a kind of request;
none of them writes.

A refusal changes nothing in the group, except where a rule names the event (MID-3, JOIN-2, SIZE-1).
"""
