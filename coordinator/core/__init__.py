"""The coordinators: groups, transactional ids, and the share partitions and their stored states.

Each part has the same four verbs: `decide` (a request proposes events), `evolve` (an event
changes the state, and nothing else does), `settle` (the events that follow from the state
alone), and answers built from the state. Begin with `groups/classic/states.py`, then
`events/groups/`, `groups/classic/evolve.py` and `groups/classic/decide/`; `shards/shard.py`
applies one event, `group_coordinator.py` finds the shard for a request.

Time is an argument, randomness is drawn by the caller. Imports events, verbs, values of the wire
and base; never an assignor (the server injects those of KIP-848 and KIP-932), a socket, a clock
or a file.
"""

from __future__ import annotations
