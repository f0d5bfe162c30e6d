"""kafka-share-groups: listed, described, offsets reset and deleted, groups deleted (KIP-932)."""

from __future__ import annotations

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell
from integration_tests.wire.share_members import ShareMember

GROUPS = "kafka-share-groups"


def _member(sh: Shell, group: str, topic: str, label: str = "a", count: int = 2) -> ShareMember:
    """A member of a group that has so many partitions of a topic."""
    member = ShareMember(sh.session, label, group)
    member.join(topic)
    member.until(count)
    return member


def _empty(sh: Shell, label: str = "g") -> tuple[str, str]:
    """A group without members that has two partitions, with five records each; and their topic."""
    group, name = sh.name(label), sh.topic("t", 2, records=5)
    _member(sh, group, name).leave()
    return group, name


@story()
def a_stable_group_described(sh: Shell) -> None:
    """Offsets, members, state: each plain and verbose."""
    group = sh.name("g")
    _member(sh, group, sh.topic("t", 2, records=5))
    for about in ((), ("--offsets",), ("--members",), ("--state",)):
        sh.run(GROUPS, "--describe", "--group", group, *about)
        sh.run(GROUPS, "--describe", "--group", group, *about, "--verbose")


@story()
def an_empty_group_described(sh: Shell) -> None:
    """Without members; and one that there is not."""
    group, _ = _empty(sh)
    for each in (group, sh.name("missing")):
        for about in ("--offsets", "--members", "--state"):
            sh.run(GROUPS, "--describe", "--group", each, about)


@story()
def groups_listed(sh: Shell) -> None:
    """By name, with state, filtered by it; consumer groups are none of them."""
    _empty(sh, "empty")
    name = sh.topic("u", 2)
    _member(sh, sh.name("stable"), name)
    sh.member(sh.name("classic"), name, 0)
    mine = sh.session.nonce
    sh.run(GROUPS, "--list", only=mine, shuffled=True)
    for states in ((), ("Stable",), ("empty",), ("Stable,Empty",), ("Dead",)):
        sh.run(GROUPS, "--list", "--state", *states, only=mine, shuffled=True)


@story()
def groups_deleted(sh: Shell) -> None:
    """With members, without, of another type, and one that there is not."""
    group, name = sh.name("g"), sh.topic("t", 2)
    member = _member(sh, group, name)
    other = sh.name("classic")
    sh.member(other, name, 0)
    sh.run(GROUPS, "--delete", "--group", group)
    member.leave()
    sh.run(GROUPS, "--delete", "--group", group)
    sh.run(GROUPS, "--delete", "--group", group)
    sh.run(GROUPS, "--delete", "--group", other)
    sh.run(GROUPS, "--list", only=sh.session.nonce)


@story()
def offsets_reset(sh: Shell) -> None:
    """To the beginning, the end and an instant; seen first, then done; not while there are
    members."""
    group, name = _empty(sh)
    for to in ("--to-earliest", "--to-latest"):
        for how in ("--dry-run", "--execute"):
            sh.run(
                GROUPS, "--reset-offsets", "--group", group, "--topic", name, to, how, shuffled=True
            )
        sh.run(GROUPS, "--describe", "--group", group, "--offsets", shuffled=True)
    member = _member(sh, group, name)
    sh.run(
        GROUPS, "--reset-offsets", "--group", group, "--topic", name, "--to-earliest", "--execute"
    )
    member.leave()


@story()
def offsets_deleted(sh: Shell) -> None:
    """Of a topic that the group knows, once more, and of one that there is not."""
    group, name = _empty(sh)
    for topic in (name, name, sh.name("missing")):
        sh.run(GROUPS, "--delete-offsets", "--group", group, "--topic", topic)
    sh.run(GROUPS, "--describe", "--group", group, "--offsets")


@story()
def options_that_do_not_go_together(sh: Shell) -> None:
    """The tool refuses them by itself."""
    sh.run(GROUPS)
    sh.run(GROUPS, "--describe")
    sh.run(GROUPS, "--delete")
    sh.run(GROUPS, "--list", "--group", "g")
    sh.run(GROUPS, "--reset-offsets", "--group", "g", "--to-earliest")


@story()
def offsets_reset_by_time(sh: Shell) -> None:
    """Records are a minute apart from 22:13:20 on 14 November 2023: to a moment; of all topics of a
    group, of all groups."""
    group, name = _empty(sh)
    of = ("--reset-offsets", "--group", group)
    for moment in ("2023-11-14T22:15:20.000", "2000-01-01T00:00:00.000", "then"):
        sh.run(GROUPS, *of, "--topic", name, "--to-datetime", moment, "--dry-run", shuffled=True)
    sh.run(GROUPS, *of, "--all-topics", "--to-latest", "--execute", shuffled=True)
    sh.run(GROUPS, "--describe", "--group", group, "--offsets", shuffled=True)
    sh.run(GROUPS, *of, "--topic", f"{name}:1", "--to-earliest", "--execute")
    sh.run(GROUPS, "--describe", "--group", group, "--offsets", shuffled=True)
