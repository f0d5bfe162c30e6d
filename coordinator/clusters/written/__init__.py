"""The lines that a Kafka broker would log, written from an event log of this emulator."""
