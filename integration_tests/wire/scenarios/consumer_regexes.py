"""Regular expressions as subscriptions (K8-RX-1..4)."""

from __future__ import annotations

from integration_tests.wire.consumers import Consumer, describe, topics
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario

_REFUSED = (
    "(",
    "[",
    "a**",
    "*",
    "(?=a)",
    "\\1",
    "a{2,1}",
    "a{1001}",
    "[z-a]",
    "(?P<n>",
    ")",
    "\\",
    "(?i",
    "[[:word:]",
    "\\Qa",
    "(?P<n>a)(?P<n>b)",
)


def _resolved(s: Session, a: Consumer) -> None:
    """Let the expression be resolved, which happens beside the requests."""
    s.wait(1_500)


@scenario("consumer")
def a_regex_of_its_own(s: Session) -> None:
    """The first answer knows nothing of it; the next heartbeat has the topics."""
    topics(s, 2, 1)
    a = Consumer(s, "a", s.name("g"))
    a.join(subscribed_topic_regex=f"t[0-9]-{s.nonce}")
    _resolved(s, a)
    describe(a.link, a.group)
    a.beat()
    a.ack()
    describe(a.link, a.group)
    a.beat(subscribed_topic_regex="")
    a.beat()
    a.ack()
    describe(a.link, a.group)
    a.leave()


@scenario("consumer")
def regexes_that_are_refused(s: Session) -> None:
    """RE2J's own words."""
    (t,) = topics(s, 1)
    a = Consumer(s, "a", s.name("g"))
    for regex in _REFUSED:
        a.join(subscribed_topic_regex=regex)
    describe(a.link, a.group)
    a.join(t)
    a.beat(subscribed_topic_regex="(")
    describe(a.link, a.group)


@scenario("consumer")
def names_and_regex_together(s: Session) -> None:
    """The union of both; a second member with the same expression has it at once (K8-RX-1,
    K8-RX-4)."""
    t, _u = topics(s, 2, 2)
    regex = f"t1-{s.nonce}"
    a, b = (Consumer(s, label, s.name("g"), server_assignor="range") for label in "ab")
    a.join(t, subscribed_topic_regex=regex)
    _resolved(s, a)
    a.beat()
    a.ack()
    b.join(subscribed_topic_regex=regex)
    describe(a.link, a.group)
    a.beat()
    a.ack()
    b.beat()
    b.ack()
    describe(a.link, a.group)
    a.beat(subscribed_topic_regex="nothing matches this")
    _resolved(s, a)
    a.beat()
    a.ack()
    b.beat()
    b.ack()
    describe(a.link, a.group)
    b.leave()
    a.beat()
    describe(a.link, a.group)


@scenario("consumer", alone=True)
def internal_topics(s: Session) -> None:
    """Whether an expression that matches everything takes the coordinator's own topic."""
    topics(s, 1)
    a = Consumer(s, "a", s.name("g"))
    a.commit("nothing", epoch=-1, member_id="")
    a.join(subscribed_topic_regex="__consumer_offsets")
    _resolved(s, a)
    a.beat()
    describe(a.link, a.group)
    a.leave()
