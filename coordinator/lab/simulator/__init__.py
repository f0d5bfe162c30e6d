"""The simulator: unchanged brokers and unchanged members in one process, under virtual time and
from one seed.

A scenario file says which members there are, how they join and leave, what fails and what must
hold; a run writes an event log. The same scenario and the same seed give the same log, byte for
byte. Every request and every response is encoded and decoded. It must not use sockets, threads,
asyncio, the wall clock or Python's hash seed. Begin with `world.py`.
"""

from __future__ import annotations
