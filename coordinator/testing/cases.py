"""Ready tests for consumer applications, by their public names: subclass `ConsumerCases`, and
`SecurityCases` for one that logs in.

What each case does stands in `coordinator.apptests.cases` and `security_cases`.
"""

from __future__ import annotations

from ..apptests.application_cases import NotJudgedWarning
from ..apptests.cases import ConsumerCases
from ..apptests.security_cases import SecurityCases

__all__ = ["ConsumerCases", "NotJudgedWarning", "SecurityCases"]
