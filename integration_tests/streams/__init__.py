"""Kafka Streams and Java's share consumer, as the applications of others use them."""
