"""A test's view of groups and records: plain values, read between two requests."""
