"""kafka-consumer-groups: listed, described, offsets reset and deleted, groups deleted."""

from __future__ import annotations

from integration_tests.tools.registry import story
from integration_tests.tools.shell import Shell

GROUPS = "kafka-consumer-groups"


def _stable(sh: Shell, group: str) -> str:
    """A Stable group whose only member has two of three partitions with five records each; it has
    committed on two."""
    name = sh.topic("t", 3, records=5)
    member = sh.member(group, name, 0, 1)
    member.commit(name, 2, 0)
    member.commit(name, 5, 2)
    return name


def _empty(sh: Shell, label: str = "g", partitions: int = 2) -> tuple[str, str]:
    """An Empty group with offset 3 of 5 in each partition; its name and the topic's."""
    group, name = sh.name(label), sh.topic("t", partitions, records=5)
    sh.commits(group, name, *[3] * partitions)
    return group, name


@story()
def a_stable_group_described(sh: Shell) -> None:
    """Offsets, members, state: each plain and verbose."""
    group = sh.name("g")
    _stable(sh, group)
    for about in ((), ("--offsets",), ("--members",), ("--state",)):
        sh.run(GROUPS, "--describe", "--group", group, *about)
        sh.run(GROUPS, "--describe", "--group", group, *about, "--verbose")


@story()
def a_static_member_described(sh: Shell) -> None:
    """The instance id shows among members."""
    group = sh.name("g")
    sh.member(group, sh.topic("t"), 0, instance="first")
    sh.run(GROUPS, "--describe", "--group", group, "--members")
    sh.run(GROUPS, "--describe", "--group", group, "--members", "--verbose")
    sh.run(GROUPS, "--describe", "--group", group)


@story()
def an_empty_group_described(sh: Shell) -> None:
    """Offsets without members; a group that lost its members; a simple one."""
    group, left = sh.name("simple"), sh.name("left")
    name = sh.topic("t", 2, records=5)
    sh.commits(group, name, 3, 3)
    member = sh.member(left, name, 0, 1)
    member.commit(name, 4)
    member.leave()
    for each in (group, left):
        for about in ("--offsets", "--members", "--state"):
            sh.run(GROUPS, "--describe", "--group", each, about)


@story()
def a_missing_group_described(sh: Shell) -> None:
    """In each view; and several groups at once, one of them missing."""
    group, name = _empty(sh)
    for about in ("--offsets", "--members", "--state"):
        sh.run(GROUPS, "--describe", "--group", sh.name("missing"), about)
    sh.run(GROUPS, "--describe", "--group", group, "--group", sh.name("missing"), shuffled=True)
    sh.run(
        GROUPS,
        "--describe",
        "--group",
        group,
        "--group",
        sh.name("missing"),
        "--state",
        shuffled=True,
    )
    assert name


@story()
def groups_listed(sh: Shell) -> None:
    """By name, with state, with type, filtered by either."""
    stable, (empty, _) = sh.name("stable"), _empty(sh, "empty")
    sh.member(stable, sh.topic("u"), 0)
    mine = sh.session.nonce
    sh.run(GROUPS, "--list", only=mine, shuffled=True)
    for how in ("--state", "--type"):
        sh.run(GROUPS, "--list", how, only=mine, shuffled=True)
    for state in ("Stable", "empty", "stable,empty", "Dead", "PreparingRebalance"):
        sh.run(GROUPS, "--list", "--state", state, only=mine, shuffled=True)
    for kind in ("classic", "consumer", "Classic,Consumer"):
        sh.run(GROUPS, "--list", "--type", kind, only=mine, shuffled=True)
    assert empty


@story()
def offsets_reset(sh: Shell) -> None:
    """To earliest, latest, an offset, a shift, the current ones: said in a dry run, done when
    executed."""
    group, name = _empty(sh)
    for how in (
        ("--to-earliest",),
        ("--to-latest",),
        ("--to-offset", "2"),
        ("--shift-by", "1"),
        ("--shift-by", "-100"),
        ("--to-current",),
        ("--to-offset", "100"),
        ("--to-offset", "0"),
    ):
        sh.run(
            GROUPS,
            "--reset-offsets",
            "--group",
            group,
            "--topic",
            name,
            *how,
            "--dry-run",
            shuffled=True,
        )
        sh.run(
            GROUPS,
            "--reset-offsets",
            "--group",
            group,
            "--topic",
            name,
            *how,
            "--execute",
            shuffled=True,
        )
        sh.run(GROUPS, "--describe", "--group", group, shuffled=True)


@story()
def offsets_reset_by_time(sh: Shell) -> None:
    """Records are a minute apart from 22:13:20 on 14 November 2023: to a moment, and by a span of
    time."""
    group, name = _empty(sh, partitions=1)
    for moment in (
        "2023-11-14T22:13:20.000",
        "2023-11-14T22:15:20.000",
        "2023-11-14T22:15:20.001Z",
        "2023-11-15T00:15:20.000+02:00",
        "2000-01-01T00:00:00.000",
        "2050-01-01T00:00:00.000",
        "2023-11-14T22:15",
        "2023-11-14",
        "then",
    ):
        sh.run(
            GROUPS,
            "--reset-offsets",
            "--group",
            group,
            "--topic",
            name,
            "--to-datetime",
            moment,
            "--dry-run",
        )
    for span in ("P1D", "PT1H", "P100000D", "P", "an hour"):
        sh.run(
            GROUPS,
            "--reset-offsets",
            "--group",
            group,
            "--topic",
            name,
            "--by-duration",
            span,
            "--dry-run",
        )


@story()
def offsets_reset_in_part(sh: Shell) -> None:
    """Some partitions, all topics, topics the group knows nothing of, partitions that are not
    there."""
    group, name = _empty(sh, partitions=3)
    other = sh.topic("other", 1, records=2)
    for targets in (
        (f"{name}:0",),
        (f"{name}:0,2",),
        (name, other),
        (sh.name("missing"),),
        (f"{name}:7",),
    ):
        topics = [word for target in targets for word in ("--topic", target)]
        sh.run(
            GROUPS,
            "--reset-offsets",
            "--group",
            group,
            *topics,
            "--to-latest",
            "--dry-run",
            shuffled=True,
        )
    sh.run(
        GROUPS,
        "--reset-offsets",
        "--group",
        group,
        "--all-topics",
        "--to-earliest",
        "--execute",
        shuffled=True,
    )
    sh.run(GROUPS, "--describe", "--group", group, shuffled=True)
    sh.run(
        GROUPS,
        "--reset-offsets",
        "--group",
        sh.name("new"),
        "--topic",
        other,
        "--to-latest",
        "--execute",
    )
    sh.run(GROUPS, "--describe", "--group", sh.name("new"))


@story()
def offsets_exported_and_imported(sh: Shell) -> None:
    """A plan as CSV, and a plan taken from CSV."""
    group, name = _empty(sh)
    sh.run(
        GROUPS,
        "--reset-offsets",
        "--group",
        group,
        "--topic",
        name,
        "--to-latest",
        "--export",
        shuffled=True,
    )
    plan = sh.file("plan.csv", f"{name},0,1\n{name},1,4\n")
    sh.run(
        GROUPS, "--reset-offsets", "--group", group, "--from-file", plan, "--dry-run", shuffled=True
    )
    sh.run(
        GROUPS, "--reset-offsets", "--group", group, "--from-file", plan, "--execute", shuffled=True
    )
    sh.run(GROUPS, "--describe", "--group", group, shuffled=True)
    sh.run(
        GROUPS,
        "--reset-offsets",
        "--group",
        group,
        "--all-topics",
        "--from-file",
        sh.file("bad.csv", "nonsense\n"),
    )
    both = sh.file("both.csv", f"{group},{name},0,2\n{sh.name('h')},{name},1,2\n")
    sh.run(
        GROUPS,
        "--reset-offsets",
        "--group",
        group,
        "--group",
        sh.name("h"),
        "--from-file",
        both,
        "--execute",
        shuffled=True,
    )
    sh.run(
        GROUPS,
        "--reset-offsets",
        "--group",
        group,
        "--group",
        sh.name("h"),
        "--all-topics",
        "--to-current",
        "--export",
        shuffled=True,
    )


@story()
def offsets_of_a_living_group_not_reset(sh: Shell) -> None:
    """Refused while it has members: dry run and execution."""
    group = sh.name("g")
    name = _stable(sh, group)
    sh.run(
        GROUPS, "--reset-offsets", "--group", group, "--topic", name, "--to-earliest", "--dry-run"
    )
    sh.run(
        GROUPS, "--reset-offsets", "--group", group, "--topic", name, "--to-earliest", "--execute"
    )
    sh.run(GROUPS, "--describe", "--group", group)


@story()
def groups_deleted(sh: Shell) -> None:
    """Empty ones go; living and missing ones say why not."""
    (empty, name), stable = _empty(sh, "empty"), sh.name("stable")
    sh.member(stable, name, 0)
    sh.run(GROUPS, "--delete", "--group", sh.name("missing"))
    sh.run(GROUPS, "--delete", "--group", stable)
    sh.run(GROUPS, "--delete", "--group", empty)
    sh.run(GROUPS, "--delete", "--group", empty)
    sh.run(GROUPS, "--list", only=sh.session.nonce)


@story()
def several_groups_deleted(sh: Shell) -> None:
    """One command, success and failure side by side."""
    (one, name), two = _empty(sh, "one"), sh.name("two")
    sh.commits(two, name, 1)
    sh.run(GROUPS, "--delete", "--group", one, "--group", two, shuffled=True)
    sh.commits(one, name, 1)
    sh.run(GROUPS, "--delete", "--group", one, "--group", sh.name("missing"), shuffled=True)


@story()
def offsets_deleted(sh: Shell) -> None:
    """Of a topic, of one partition, of what is not there; not of what a member is subscribed to."""
    group, name = _empty(sh, partitions=3)
    sh.run(GROUPS, "--delete-offsets", "--group", group, "--topic", f"{name}:1", shuffled=True)
    sh.run(GROUPS, "--describe", "--group", group, shuffled=True)
    sh.run(GROUPS, "--delete-offsets", "--group", group, "--topic", name, shuffled=True)
    sh.run(GROUPS, "--describe", "--group", group, shuffled=True)
    sh.run(
        GROUPS, "--delete-offsets", "--group", sh.name("missing"), "--topic", name, shuffled=True
    )
    living = sh.name("living")
    sh.member(living, name, 0).commit(name, 1)
    sh.run(GROUPS, "--delete-offsets", "--group", living, "--topic", name, shuffled=True)
    sh.run(
        GROUPS, "--delete-offsets", "--group", living, "--topic", sh.name("missing"), shuffled=True
    )


@story()
def regexes_validated(sh: Shell) -> None:
    """The tool's own check of a subscription's pattern: nobody is asked."""
    sh.run(GROUPS, "--validate-regex", "orders-.*")
    sh.run(GROUPS, "--validate-regex", "orders-[")


@story()
def options_that_do_not_go_together(sh: Shell) -> None:
    """Refused by the tool itself."""
    sh.run(GROUPS)
    sh.run(GROUPS, "--delete", "--group", "g", "--topic", "t")
    sh.run(GROUPS, "--reset-offsets", "--group", "g", "--to-latest")
