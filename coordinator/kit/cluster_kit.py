"""The verbs for a cluster as methods of the emulator: each builds a verb's data, carries it out,
and returns a `Done` that can undo it.

    with kafka.stop_broker(2, how="crash"):      # started again at the end of the block
        ...

`cluster.py` carries verbs out; this module does not know how.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MethodType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self, overload

from coordinator.base.keyword_errors import nearest_keywords, no_such_keyword

from .waits.processing import ProcessingKit

if TYPE_CHECKING:
    from coordinator.verbs import brokers as verbs
    from coordinator.verbs.brokers import Verb
else:

    class _Verbs:
        """Stands for the module of the verbs' data, and loads it at first use: an emulator that
        is only served never needs it."""

        def __getattr__(self, name: str) -> object:
            from coordinator.verbs import brokers

            return getattr(brokers, name)

    verbs = _Verbs()

P = ParamSpec("P")


class Done:
    """A verb that was carried out. `undo` carries its inverse out, once; the end of a `with`
    block does so, too."""

    def __init__(self, verb: Verb, control: Callable[[Verb], Verb | None]) -> None:
        self.verb = verb
        self.inverse = control(verb)
        self._control = control

    def undo(self) -> None:
        """Bring the cluster back to its former state, as far as Kafka can go back. Does nothing
        if there is no inverse, or if it was undone already."""
        inverse, self.inverse = self.inverse, None
        if inverse is not None:
            self._control(inverse)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.undo()

    def __repr__(self) -> str:
        return f"<done: {self.verb}>"


class _CarriedOut(Generic[P]):
    """A method that builds a verb from its arguments and carries it out. `kind` returns the
    verb's class; it is called when the method is first used, because only then the class is
    loaded."""

    def __init__(self, kind: Callable[[], Callable[P, Verb]]) -> None:
        self._kind = kind
        self._made: Callable[Concatenate[ClusterKit, P], Done] | None = None
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(
        self, kit: None, owner: type[ClusterKit]
    ) -> Callable[Concatenate[ClusterKit, P], Done]: ...

    @overload
    def __get__(self, kit: ClusterKit, owner: type[ClusterKit]) -> Callable[P, Done]: ...

    def __get__(self, kit: ClusterKit | None, owner: type[ClusterKit]) -> Any:
        if self._made is None:
            self._made = _method(self._kind(), self._name)
        return self._made if kit is None else MethodType(self._made, kit)


def _method(kind: Callable[P, Verb], name: str) -> Callable[Concatenate[ClusterKit, P], Done]:
    from inspect import Parameter, Signature, signature

    from coordinator.verbs import ROWS

    def method(kit: ClusterKit, /, *args: P.args, **kwargs: P.kwargs) -> Done:
        for wrong in kwargs.keys() - {each.name for each in taken}:
            raise TypeError(no_such_keyword(name, wrong, [each.name for each in taken]))
        return Done(kind(*args, **kwargs), kit.control)

    first = Parameter("kit", Parameter.POSITIONAL_ONLY)
    taken = signature(kind).parameters.values()
    setattr(method, "__signature__", Signature([first, *taken]))  # noqa: B010 - mypy knows none
    method.__doc__ = ROWS[kind.__name__].summary
    return method


@nearest_keywords
class ClusterKit(ProcessingKit):
    """A test's actions on the brokers of an emulator that has several: one method for each verb.
    Raises ClusterError for an impossible one."""

    if TYPE_CHECKING:  # the emulator's own

        def control(self, verb: Verb) -> Verb | None: ...

    stop_broker = _CarriedOut(lambda: verbs.StopBroker)
    start_broker = _CarriedOut(lambda: verbs.StartBroker)
    move_leader = _CarriedOut(lambda: verbs.MoveLeader)
    move_coordinator = _CarriedOut(lambda: verbs.MoveCoordinator)
    fence_broker = _CarriedOut(lambda: verbs.FenceBroker)
    cut_link = _CarriedOut(lambda: verbs.CutLink)
    cut_client = _CarriedOut(lambda: verbs.CutClient)
    jump_clock = _CarriedOut(lambda: verbs.JumpClock)
    slow_broker = _CarriedOut(lambda: verbs.SlowBroker)
    slow_load = _CarriedOut(lambda: verbs.SlowLoad)
    update_feature = _CarriedOut(lambda: verbs.UpdateFeature)
    slow_follower = _CarriedOut(lambda: verbs.SlowFollower)
    clean_logs = clean = _CarriedOut(lambda: verbs.CleanLogs)

    def reassign_partition(
        self, topic: str, partition: int, replicas: Sequence[int] | None = ()
    ) -> Done:
        """Move a partition to these brokers, preferred leader first. Without any, a broker that
        has no replica takes the leader's place. None cancels a reassignment in progress."""
        chosen = None if replicas is None else tuple(replicas)
        return Done(verbs.ReassignPartition(topic, partition, chosen), self.control)
