"""Ready tests for consumer applications, by their public name: subclass `ConsumerCases`.

What each case does stands in `coordinator.apptests.cases`.
"""

from __future__ import annotations

from ..apptests.cases import ConsumerCases, NotJudgedWarning

__all__ = ["ConsumerCases", "NotJudgedWarning"]
