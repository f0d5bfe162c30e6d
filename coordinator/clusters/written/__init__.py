"""The log lines of a Kafka broker, written from an event log of this emulator. Begin with
`kafka_lines.py`."""
