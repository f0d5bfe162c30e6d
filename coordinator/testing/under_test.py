"""A consumer application as a test holds it, by its public name. The code is in
`coordinator.kit.ready_tests`."""

from __future__ import annotations

from coordinator.kit.ready_tests.findings import ApplicationError
from coordinator.kit.ready_tests.under_test import ApplicationUnderTest

__all__ = ["ApplicationError", "ApplicationUnderTest"]
