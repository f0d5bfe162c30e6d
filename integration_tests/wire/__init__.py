"""Scenarios told in raw protocol messages, played against any Kafka address, and the transcripts they leave."""
