"""Facts read from an event log, and what is made of them.

`world` folds lines into members, generations, owners and causes; `explain` puts these facts into
sentences; `judges` hold them against what Kafka promises. Begin with `world/timeline.py`, then
`explain/narrator.py`.

Imports events, verbs, base and the bytes that a log quotes (`wire.consumer_protocol`,
`wire.connect_protocol`); never the core: a judge that shares code with whom it judges is blind.
"""

from __future__ import annotations
