"""Brings an emulator back to an earlier state: snapshots (`snapshot.py`), emptying it between
tests (`resetting.py`), and restarts of brokers (`restarts.py`)."""
