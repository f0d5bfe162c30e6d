"""Ready tests by their public names: subclass `ConsumerCases` for consumer applications,
`SecurityCases` for one that logs in, `WorkerCases` for workers of share groups.

What each case does stands in `coordinator.apptests.cases`, `security_cases` and `worker_cases`.
"""

from __future__ import annotations

from ..apptests.application_cases import NotJudgedWarning
from ..apptests.cases import ConsumerCases
from ..apptests.security_cases import SecurityCases
from ..apptests.worker_cases import WorkerCases

__all__ = ["ConsumerCases", "NotJudgedWarning", "SecurityCases", "WorkerCases"]
