"""Ready tests that judge a consumer application: cases, what they do to it, and findings. Users import them
from `coordinator.testing.cases` and `coordinator.testing.under_test`."""

from __future__ import annotations
