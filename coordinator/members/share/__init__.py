"""Consumers of share groups (KIP-932), as pure state machines: `member` heartbeats, `sessions`
fetches and acknowledges at the leaders of partitions, `consumer` combines both. Begin with
`consumer.py`. Knows no clock or socket.
"""
