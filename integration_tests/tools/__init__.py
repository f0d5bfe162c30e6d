"""Kafka's own command-line tools against an address: stories of what a user types, and what the
tools say.

`stories/` holds the stories, `shell.py` what they act on, `runner.py` the JVMs that run the tools,
`transcript.py` what is kept of their output, `record.py` the recording of a real broker.
"""

from __future__ import annotations
