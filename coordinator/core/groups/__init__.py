"""Groups as the fold of their events: membership of the classic, consumer and share protocols, and
committed offsets.

Four verbs: `decide` proposes events for a request, `settle` proposes what then follows from the
state, `evolve` folds one event into the group (the only writer), and `responses` names the
parked requests that an event releases. Nothing here knows a clock, randomness, sockets or
logging: time is an argument, fresh ids come with the request. Begin with `classic/states.py`.
"""
