"""Tests of `coordinator.re2j`."""
