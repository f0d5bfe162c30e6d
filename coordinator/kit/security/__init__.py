"""Verbs for rights, passwords and certificates. `kit.py` has the methods, `access.py` carries
them out."""
