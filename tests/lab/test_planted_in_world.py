"""Bugs that are planted in the world (`coordinator.history.world`): each is noticed by the plain counts
of `tests/recount.py`, which share nothing with it. Bugs in the stage that accepts lines are planted in
`test_former_coordinators`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coordinator.events.groups import MemberReplaced
from coordinator.events.groups.share import ShareMemberRemoved
from coordinator.history.world import classic_story
from coordinator.history.world.groups.classic_groups import ClassicGroup
from coordinator.history.world.groups.memberships import Memberships
from coordinator.history.world.ownership.moves import Moves
from tests.frozen.outputs import Lines
from tests.lab.test_one_number import disagreements
from tests.shipped import log_text

pytestmark = pytest.mark.unmeasured


def a_static_member_that_comes_back_is_another_owner(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Moves, "handlers", _without(Moves, MemberReplaced))


def a_fenced_member_stays(patch: pytest.MonkeyPatch) -> None:
    patch.delitem(classic_story._FOLDS, MemberReplaced)


def a_worker_of_a_share_group_never_leaves(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Memberships, "handlers", _without(Memberships, ShareMemberRemoved))


def every_stored_generation_completes_a_rebalance(patch: pytest.MonkeyPatch) -> None:
    """The generation that is stored for a static member's new id completes none."""
    follow = ClassicGroup.follow

    def eager(self: ClassicGroup, line: object) -> bool:
        return follow(self, line) or type(line.event).__name__ == "GenerationStored"  # type: ignore[arg-type, attr-defined]

    patch.setattr(ClassicGroup, "follow", eager)


def _without(part: type[Moves | Memberships], *kinds: type) -> dict[type, object]:
    return {kind: handler for kind, handler in part.handlers.items() if kind not in kinds}


@pytest.mark.parametrize(
    ("run", "bug"),
    [
        ("rolling_deploy_static", a_static_member_that_comes_back_is_another_owner),
        ("rolling_deploy_static", a_fenced_member_stays),
        ("rolling_deploy_static", every_stored_generation_completes_a_rebalance),
        ("share_workers_crash", a_worker_of_a_share_group_never_leaves),
    ],
)
def test_the_plain_counts_notice(
    run: str, bug: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = log_text(run)
    assert disagreements(Lines(text)) == []
    bug(monkeypatch)
    assert disagreements(Lines(text))
