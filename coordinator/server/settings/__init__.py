"""Configurations of brokers, topics, groups and client metrics: names, types, defaults, validation,
and their view in DescribeConfigs. Does not know what a setting does. Begin with
`definitions.py`, then `broker_configs.py`.
"""

from __future__ import annotations
