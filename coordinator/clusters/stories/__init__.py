"""The story of each group: one name for each member (`people.py`), and the cause of each
rebalance from the lines of both ends (`broker_story.py`, `client_story.py`)."""
