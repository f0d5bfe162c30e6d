"""Share groups on the page (KIP-932): their records in a picture (`queues.py`), and in a test
made from a run (`in_test.py`)."""
