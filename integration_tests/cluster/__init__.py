"""Scenarios of several brokers: told in raw protocol messages, played on three real brokers and on
the emulator's three.

A scenario says what is done to brokers (a crash, a pause, a controlled shutdown) and to their
leaders, and what each broker answers. Each is played when nothing else is, on a cluster that is
whole; `stage.Cluster` makes it whole again afterwards. What was recorded stands in
integration_tests/golden/cluster.
"""
