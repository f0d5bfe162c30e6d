"""Views of the broker for groups of the newer protocols: `consumer` for consumer groups (KIP-848),
`share` for share groups (KIP-932). They implement interfaces that `core` declares.
"""
