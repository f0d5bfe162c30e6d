"""A consumer application in the hands of a test, by its public name (`coordinator.kit.ready_tests`)."""

from __future__ import annotations

from coordinator.kit.ready_tests.findings import ApplicationError
from coordinator.kit.ready_tests.under_test import ApplicationUnderTest

__all__ = ["ApplicationError", "ApplicationUnderTest"]
