"""Readers of log messages: one module for each broker, client library or tool. A line in, facts
(`coordinator/clusters/facts.py`) out. To teach a new message, add a row to the table of its
dialect."""
