"""Ready tests by their public names: derive from `ConsumerCases` for consumer applications,
`SecurityCases` for one that logs in, `WorkerCases` for workers of share groups.

The cases are in `coordinator.kit.ready_tests.cases`, `security_cases` and `worker_cases`.
"""

from __future__ import annotations

from coordinator.kit.ready_tests.application_cases import HeldRebalanceWarning, NotJudgedWarning
from coordinator.kit.ready_tests.cases import ConsumerCases
from coordinator.kit.ready_tests.security_cases import SecurityCases
from coordinator.kit.ready_tests.worker_cases import WorkerCases

__all__ = [
    "ConsumerCases",
    "HeldRebalanceWarning",
    "NotJudgedWarning",
    "SecurityCases",
    "WorkerCases",
]
