"""The diagnosis as text and Markdown (`text.py`), HTML, JSON (`frame.py`) and event log, and
with stable names in place of the real ones (`redaction.py`)."""
