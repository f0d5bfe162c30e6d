"""The command `coordinator peers`: members in groups of any Kafka (`peers.py`,
`share_peers.py`), and their output (`table.py`)."""
