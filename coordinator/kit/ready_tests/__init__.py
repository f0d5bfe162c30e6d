"""Ready tests that judge a consumer application: cases, disturbances, and findings. Users import
them from `coordinator.testing.cases` and `coordinator.testing.under_test`. Begin with
`cases.py`, then `under_test.py` and `findings.py`."""

from __future__ import annotations
