"""Random scenarios: drawn from a seed (`random_scenarios.py`), run and judged (`one_seed.py`),
counted (`coverage.py`), and made smaller when they fail (`shrinking.py`)."""

from __future__ import annotations
