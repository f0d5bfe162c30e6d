"""Random scenarios: drawn from a seed, run, judged, counted, and made smaller when they fail."""

from __future__ import annotations
