"""Offsets of a group: committed ones, those of open transactions, and the rules for both. They
belong to a group beside its membership, whatever protocol its members use. Begin with
`decide.py`.
"""
