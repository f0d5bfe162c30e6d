"""Classic consumer groups as the fold of their events.

Four verbs and no others: `decide` proposes events for a request, `settle` proposes what then
follows from the state, `evolve` folds one event into the group (the only writer), `answers` names
the parked requests an event releases. Nothing here depends on a clock, randomness, sockets or
logging: time is an argument, fresh ids come with the request.
"""
