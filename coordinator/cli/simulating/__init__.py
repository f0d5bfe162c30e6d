"""Commands that run scenarios under virtual time: one run (`simulate.py`), comparisons
(`ab.py`), random scenarios (`swarm.py`)."""
