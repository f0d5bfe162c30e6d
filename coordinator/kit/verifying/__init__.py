"""`verify()`: assertions about what happened to a group, on lines of the event log."""
