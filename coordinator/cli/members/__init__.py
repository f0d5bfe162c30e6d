"""`coordinator peers`: members in groups of any Kafka, and how they are shown."""
