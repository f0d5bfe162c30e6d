"""A share group at the other end of a control port."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from coordinator.base.keyword_errors import nearest_keywords

from ... import arguments
from ...shares.handle import ShareGroupHandle, setting_text
from ...views.share_records import ShareSnapshot, record_from_plain, snapshot_from_plain
from ...waits.share_expectations import ShareExpectation
from .calls import Caller, far

if TYPE_CHECKING:
    from ...verifying.verification import Verification


def _expected(timeout: float, **words: Any) -> None:
    """Check the arguments of `wait`."""
    arguments.seconds("timeout", timeout)
    ShareExpectation(**words)


def _settings(settings: Mapping[str, object]) -> dict[str, Any]:
    arguments.mapping("settings", settings, '{"share.auto.offset.reset": "earliest"}')
    return {"settings": {name: setting_text(value) for name, value in settings.items()}}


@nearest_keywords
class RemoteShareGroup:
    """A share group like `ShareGroupHandle`."""

    def __init__(self, caller: Caller, group_id: str, verify: Callable[..., Verification]) -> None:
        self._caller = caller
        self._verify = verify
        self.group_id = group_id
        self._at = {"group": group_id}

    def snapshot(self) -> ShareSnapshot:
        """See `ShareGroupHandle.snapshot`."""
        return snapshot_from_plain(self._caller("share_describe", **self._at))

    def verify(self, *, since: int = 0) -> Verification:
        """See `ShareGroupHandle.verify`."""
        return self._verify(self.group_id, since=since)

    def obstacles(self) -> list[str]:
        """See `ShareGroupHandle.obstacles`."""
        return list(self._caller("obstacles", **self._at)["obstacles"])

    wait = far(
        ShareGroupHandle.wait,
        "share_wait",
        check=_expected,
        read=lambda _, shown: snapshot_from_plain(shown),
    )
    record = far(
        ShareGroupHandle.record, "share_record", read=lambda _, shown: record_from_plain(shown)
    )
    records = far(
        ShareGroupHandle.records,
        "share_records",
        read=lambda _, shown: [record_from_plain(row) for row in shown["records"]],
    )
    configure = far(ShareGroupHandle.configure, "share_configure", check=_settings)
    expire_locks = far(ShareGroupHandle.expire_locks, "share_expire")
    release = far(ShareGroupHandle.release, "share_release")
    end_session = far(ShareGroupHandle.end_session, "share_end_session")
    move_start = far(ShareGroupHandle.move_start, "share_move_start")
