"""A share group in the hands of a test: its records, waits and verbs (KIP-932)."""
