"""Connections of a client as bytes: `channel` is one connection, `login` its SASL exchange,
`driver` carries out a client's effects. No sockets; `members.live` has them.
"""
