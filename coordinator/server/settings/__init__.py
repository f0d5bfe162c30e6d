"""Configurations of brokers, topics, groups and clients: names, types, defaults, checks, changes and views."""

from __future__ import annotations
