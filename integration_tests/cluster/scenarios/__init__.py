"""The scenarios of several brokers, one file an area."""
