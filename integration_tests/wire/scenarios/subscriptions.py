"""How the broker reads subscriptions: only the beginning matters, and only to know which topics a
group lives on.

Felt through OffsetDelete: topics that count as subscribed are refused with 86 (OD-2, EXP-8).
"""

from __future__ import annotations

import struct

from integration_tests.wire.people import Member, protocols, subscription, topic, until
from integration_tests.wire.recorder import Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.offsets import forget


def _owned(name: str, *partitions: int) -> bytes:
    return (
        struct.pack(">ih", 1, len(name))
        + name.encode()
        + struct.pack(f">i{len(partitions)}i", len(partitions), *partitions)
    )


@scenario()
def every_version_and_what_is_left_of_it(s: Session) -> None:
    """Versions 0 to 3 and beyond, user data, owned partitions, generation and rack; tails cut off;
    no topics at all."""
    mine, other, admin = topic(s, "mine"), topic(s, "other"), s.connect("admin")
    v1 = bytes.fromhex(subscription(mine, version=1)) + _owned(other, 0)
    v2 = b"\x00\x02" + v1[2:] + struct.pack(">i", 7)
    v3 = b"\x00\x03" + v2[2:] + b"\x00\x01r"
    blobs = {
        "v0": bytes.fromhex(subscription(mine)),
        "v0 both": bytes.fromhex(subscription(mine, other)),
        "v0 none": bytes.fromhex(subscription()),
        "v0 user data": bytes.fromhex(subscription(mine, user_data=b"abc")),
        "v0 without user data": bytes.fromhex(subscription(mine))[:-4],
        "v0 and more": bytes.fromhex(subscription(mine)) + b"more",
        "v1": v1,
        "v2": v2,
        "v3": v3,
        "v3 null rack": v3[:-3] + b"\xff\xff",
        "v4": b"\x00\x04" + v3[2:],
        "v99": b"\x00\x63" + v3[2:] + b"\x00\x00",
        "v -1": b"\xff\xff" + v3[2:],
        "topic twice": bytes.fromhex(subscription(mine, mine)),
        "empty": b"",
        "one byte": b"\x00",
        "three bytes": b"\x00\x00\x00",
        "five bytes": b"\x00\x00\x00\x00\x00",
    }
    for label, blob in blobs.items():
        group = s.name(label.replace(" ", "-"))
        member = Member(
            s, label, group, version=3, protocols=protocols("range", metadata=blob.hex())
        )
        member.join()
        forget(admin, group, mine, other)
        member.sync({member.member_id: "01"}, 2)
        forget(admin, group, mine, other)


@scenario()
def the_selected_protocols_subscription_counts(s: Session) -> None:
    """EXP-8: of each member, the bytes of the chosen assignor; the group's topics are all members'
    together."""
    one, two, three, admin, group = (
        topic(s, "one"),
        topic(s, "two"),
        topic(s, "three"),
        s.connect("admin"),
        s.name("g"),
    )
    a = Member(s, "a", group, version=3)
    mine = [
        {"name": "roundrobin", "metadata": subscription(two)},
        {"name": "range", "metadata": subscription(one)},
    ]
    a.join(protocols=mine)
    forget(admin, group, one, two, three)
    b = Member(s, "b", group, version=3)
    b.send_join(protocols=protocols("range", metadata=subscription(three)))
    until(s, group, "PreparingRebalance")
    a.send_join(protocols=mine)
    b.take_join()
    a.take_join()
    forget(admin, group, one, two, three)
