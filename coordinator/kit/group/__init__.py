"""A group as a test holds it: properties (`properties.py`), waits and verbs (`handle.py`), and
reasons why a wait ended in vain (`in_vain.py`)."""
