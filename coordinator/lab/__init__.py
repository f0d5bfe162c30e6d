"""Experiments on the same objects: the simulated world and its scenarios, the live world, the swarm,
the page with its lessons, the pipeline on Spark, the demo, the tool that reassigns partitions.

Begin with `simulator/world.py`, `page/picture.py` or `pipeline/schemas.py`. May import all rooms below;
only `cli` imports this one, and lazily: `coordinator serve` and the pytest plugin start without it.
"""

from __future__ import annotations
