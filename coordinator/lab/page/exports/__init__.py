"""A run of the page or a group of a log as a scenario file or as a pytest test."""
