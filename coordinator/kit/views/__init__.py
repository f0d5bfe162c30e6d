"""Groups and records as a test sees them: plain values (`group_snapshots.py`,
`share_records.py`), read between two requests (`group_views.py`)."""
