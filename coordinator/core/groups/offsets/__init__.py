"""A group's offsets: those that are committed, those of open transactions, and the rules for both.

They are a part of a group beside its membership, whatever protocol its members speak.
"""
