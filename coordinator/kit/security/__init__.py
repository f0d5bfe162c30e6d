"""Verbs of rights, passwords and certificates."""
