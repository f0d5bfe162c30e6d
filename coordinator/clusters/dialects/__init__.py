"""Readers of log messages: one module for each broker, client library or tool. A line in, facts out."""
