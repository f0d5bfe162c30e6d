"""Facts from an event log, sentences about them, and verdicts on them.

`world` folds lines into members, generations, owners and causes; `explain` makes sentences of them;
`judges` compare them with Kafka's promises. Begin with `world/world.py`, then
`explain/narrator.py`.

Imports events, verbs, base and the readers of bytes that a log quotes (`wire.consumer_protocol`,
`wire.connect_protocol`). It must never import the core: a judge that shares code with what it
judges would share its mistakes.
"""

from __future__ import annotations
