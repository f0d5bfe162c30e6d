"""The actions of `kafka-reassign-partitions`: generate, execute, verify, list, cancel (REASN-7 to
REASN-10), with its output.

Each function prints by `say` and returns what happened. Raises ToolError, AdminError or
FileError; then nothing was changed. It must not know the command line, nor how brokers are
reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized

from coordinator.kit.admin import BROKER, TOPIC, Admin, Moving
from coordinator.server.cluster.admin_placement import PlacementError, assign
from coordinator.server.cluster.placement import RandomSource

from .files import TopicPartition, names, write_assignment

Say = Callable[[str], None]
BROKER_THROTTLES = ("leader.replication.throttled.rate", "follower.replication.throttled.rate")
TOPIC_THROTTLES = (
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
)
_EXISTING = (
    "Cannot execute because there is an existing partition assignment.  Use --additional to override this and create a new partition "
    "assignment in addition to the existing one. The --additional flag can also be used to change the throttle by resubmitting the "
    "current reassignment."
)
_VERIFY_LATER = "Warning: You must run --verify periodically, until the reassignment completes, to ensure the throttle is removed."


class ToolError(Exception):
    """The tool refuses to act; the message says why, and what to do."""


class PlanError(ToolError):
    """A plan that no cluster like this one can carry out: it names what there is not."""


def generate(
    admin: Admin,
    topics: Sequence[str],
    brokers: Sequence[int],
    rng: RandomSource,
    say: Say,
    *,
    racks: bool = True,
) -> None:
    """Print the current assignment of topics, and a proposal for these brokers (REASN-7)."""
    doubled = sorted({node for node in brokers if brokers.count(node) > 1})
    if doubled:
        raise PlanError(f"Broker list contains duplicate entries: {', '.join(map(str, doubled))}")
    current = admin.replicas(topics)
    missing = sorted(set(topics) - {topic for topic, _ in current})
    if missing:
        raise PlanError(f"Topic {missing[0]} not found.")
    unknown = sorted(set(brokers) - set(admin.racks))
    if unknown:
        raise PlanError(f"Unknown broker id {unknown[0]}; the brokers are {_ids(admin)}")
    proposed: dict[TopicPartition, list[int]] = {}
    for topic in topics:
        own = {index: replicas for (name, index), replicas in current.items() if name == topic}
        try:
            placed = assign(
                {node: admin.racks[node] for node in brokers},
                len(own),
                len(own[min(own)]),
                rng,
                racks=racks,
            )
        except PlacementError as error:
            raise ToolError(str(error)) from None
        proposed.update({(topic, index): replicas for index, replicas in enumerate(placed)})
    say(f"Current partition replica assignment\n{write_assignment(current)}\n")
    say(f"Proposed partition reassignment configuration\n{write_assignment(proposed)}")


def execute(
    admin: Admin,
    targets: Mapping[TopicPartition, list[int]],
    say: Say,
    *,
    additional: bool = False,
    throttle: int | None = None,
) -> None:
    """Begin a reassignment (REASN-8)."""
    moving = admin.moving()
    if moving and not additional:
        raise ToolError(_EXISTING)
    current = _current(admin, targets)
    unknown = sorted(
        {node for replicas in targets.values() for node in replicas} - set(admin.racks)
    )
    if unknown:
        raise PlanError(f"Unknown broker id {unknown[0]}; the brokers are {_ids(admin)}")
    empty = [partition for partition, replicas in targets.items() if not replicas]
    if empty:
        raise PlanError(
            f"Partition replica lists may not be empty: {names(empty)}; name at least one of the brokers {_ids(admin)}"
        )
    say(
        f"Current partition replica assignment\n\n{write_assignment(current)}\n\n"
        "Save this to use as the --reassignment-json-file option during rollback"
    )
    if throttle is not None:
        say(_VERIFY_LATER)
        _throttle(admin, targets, current, moving, throttle)
        say(f"The inter-broker throttle limit was set to {throttle} B/s")
    refused = admin.reassign(dict(targets))
    if refused:
        lines = "\n".join(
            f"{names([partition])}: {why}" for partition, why in sorted(refused.items())
        )
        raise ToolError(f"Error reassigning partition(s):\n{lines}")
    say(f"Successfully started partition reassignment{_plural(targets)} for {names(targets)}")


def verify(
    admin: Admin,
    targets: Mapping[TopicPartition, list[int]],
    say: Say,
    *,
    preserve_throttles: bool = False,
) -> bool:
    """Print the progress of a reassignment, and remove throttles if none is active (REASN-9);
    return True if all is done."""
    moving = admin.moving()
    current = admin.replicas(sorted({topic for topic, _ in targets}))
    say("Status of partition reassignment:")
    done = True
    for partition in sorted(targets):
        text, completed = _status(
            partition, targets[partition], current.get(partition), moving.get(partition)
        )
        done = done and completed
        say(text)
    if not any(partition in moving for partition in targets) and not preserve_throttles:
        _clear_throttles(admin, sorted({topic for topic, _ in targets}), say)
    return done


def listed(admin: Admin, say: Say) -> None:
    """Tell of everything that is under way."""
    moving = admin.moving()
    if not moving:
        say("No partition reassignments found.")
        return
    say("Current partition reassignments:")
    for partition, (replicas, adding, removing) in sorted(moving.items()):
        told = [("replicas", replicas), ("adding", adding), ("removing", removing)]
        parts = [
            f"{name}: {','.join(map(str, nodes))}."
            for name, nodes in told
            if nodes or name == "replicas"
        ]
        say(f"{names([partition])}: {' '.join(parts)}")


def cancel(
    admin: Admin,
    targets: Mapping[TopicPartition, list[int]],
    say: Say,
    *,
    preserve_throttles: bool = False,
) -> None:
    """Cancel the reassignments that a file names (REASN-10). Pure additions count as done for
    Kafka's tool, and are left."""
    moving = admin.moving()
    active = [
        partition
        for partition in targets
        if partition in moving and (not moving[partition].adding or moving[partition].removing)
    ]
    if not active:
        say("None of the specified partition reassignments are active.")
    else:
        refused = admin.reassign(dict.fromkeys(active))
        if refused:
            lines = "\n".join(
                f"{names([partition])}: {why}" for partition, why in sorted(refused.items())
            )
            raise ToolError(
                f"Error cancelling partition reassignment{_plural(refused)} for:\n{lines}"
            )
        say(f"Successfully cancelled partition reassignment{_plural(active)} for: {names(active)}")
    if not preserve_throttles:
        admin.replicas(sorted({topic for topic, _ in targets}))
        _clear_throttles(admin, sorted({topic for topic, _ in targets}), say)


def _current(
    admin: Admin, targets: Mapping[TopicPartition, list[int]]
) -> dict[TopicPartition, list[int]]:
    there = admin.replicas(sorted({topic for topic, _ in targets}))
    missing = [partition for partition in targets if partition not in there]
    if missing:
        raise PlanError(f"Unable to find partition(s): {names(missing)}")
    return {partition: there[partition] for partition in targets}


def _status(
    partition: TopicPartition, target: list[int], current: list[int] | None, moving: Moving | None
) -> tuple[str, bool]:
    name = names([partition])
    if moving is not None:
        return f"Reassignment of partition {name} is still in progress.", False
    if current == target:
        return f"Reassignment of partition {name} is completed.", True
    shown = ",".join(map(str, current or ()))
    wanted = ",".join(map(str, target))
    return (
        f"There is no active reassignment of partition {name}, but replica set is {shown} rather than {wanted}.",
        False,
    )


def _throttle(
    admin: Admin,
    targets: Mapping[TopicPartition, list[int]],
    current: Mapping[TopicPartition, list[int]],
    moving: Mapping[TopicPartition, Moving],
    rate: int,
) -> None:
    """Limit the brokers concerned, and name the limited replicas: sources at leaders, added ones at
    followers (REASN-8).

    Reassignments in progress get the new limit, too.
    """
    moves = {
        partition: ({*move.replicas} - {*move.adding}, {*move.adding})
        for partition, move in moving.items()
    }
    for partition, target in targets.items():
        sources = moves[partition][0] if partition in moves else {*current[partition]}
        moves[partition] = (sources, {*target} - sources)
    limited: dict[str, tuple[list[str], list[str]]] = {}
    for (topic, index), sides in moves.items():
        for names_of_side, nodes in zip(limited.setdefault(topic, ([], [])), sides, strict=True):
            names_of_side += [f"{index}:{node}" for node in nodes]
    for topic, (leaders, followers) in sorted(limited.items()):
        admin.set_configs(
            TOPIC,
            topic,
            dict(
                zip(
                    TOPIC_THROTTLES,
                    (",".join(sorted(leaders)), ",".join(sorted(followers))),
                    strict=True,
                )
            ),
        )
    for node in sorted({node for sides in moves.values() for side in sides for node in side}):
        admin.set_configs(BROKER, str(node), dict.fromkeys(BROKER_THROTTLES, str(rate)))


def _clear_throttles(admin: Admin, topics: Sequence[str], say: Say) -> None:
    brokers = sorted(admin.racks)
    shown = ",".join(map(str, brokers))
    say(f"\nClearing broker-level throttles on broker{'' if len(brokers) == 1 else 's'} {shown}")
    for node in brokers:
        admin.set_configs(BROKER, str(node), dict.fromkeys(BROKER_THROTTLES))
    say(
        f"Clearing topic-level throttles on topic{'' if len(topics) == 1 else 's'} {','.join(topics)}"
    )
    for topic in topics:
        admin.set_configs(TOPIC, topic, dict.fromkeys(TOPIC_THROTTLES))


def _plural(things: Sized) -> str:
    return "" if len(things) == 1 else "s"


def _ids(admin: Admin) -> str:
    return ", ".join(map(str, sorted(admin.racks)))
