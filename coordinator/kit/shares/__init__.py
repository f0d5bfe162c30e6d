"""A share group as a test holds it (KIP-932): waits and verbs (`handle.py`), and its records
(`views.py`)."""
