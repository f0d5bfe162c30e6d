"""What a test sees of groups and records: plain values, read between two requests."""
