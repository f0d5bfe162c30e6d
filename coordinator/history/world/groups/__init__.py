"""Groups over time: members, generations and epochs of the classic protocol
(`classic_groups.py`) and of KIP-848 (`consumer_groups.py`)."""
