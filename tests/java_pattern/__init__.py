"""Tests of `coordinator.java_pattern`."""
