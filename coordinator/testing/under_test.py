"""A consumer application in the hands of a test, by its public name (`coordinator.apptests`)."""

from __future__ import annotations

from ..apptests.findings import ApplicationError
from ..apptests.under_test import ApplicationUnderTest

__all__ = ["ApplicationError", "ApplicationUnderTest"]
