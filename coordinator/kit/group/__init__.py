"""A group in the hands of a test: its properties, waits and verbs."""
