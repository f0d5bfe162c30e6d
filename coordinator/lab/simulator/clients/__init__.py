"""Members and producers in a simulated or live world: their hosts, connections and applications."""

from __future__ import annotations
