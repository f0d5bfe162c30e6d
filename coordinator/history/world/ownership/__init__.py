"""Owners of partitions over time: as assigned and as members' listeners were called
(`owners.py`), moves (`moves.py`), and times without an owner (`gaps.py`)."""
