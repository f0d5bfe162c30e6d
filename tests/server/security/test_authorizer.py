"""What a set of ACLs means, how people write them, and what filters find (ACL-3 to ACL-6, ACL-8,
REF-3)."""

from __future__ import annotations

import pytest

from coordinator.events.acls import (
    Acl,
    AclError,
    AclFilter,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    read_acl,
)
from coordinator.server.security.authorizer import Authorizer

O, TOPIC = Operation, ResourceType.TOPIC
HERE = "127.0.0.1"


def of(*sentences: str, **options: object) -> Authorizer:
    return Authorizer(map(read_acl, sentences), **options)  # type: ignore[arg-type]


def may(authorizer: Authorizer, operation: Operation, name: str = "orders") -> bool:
    return authorizer.allows("User:a", HERE, operation, TOPIC, name)


class TestSentences:
    @pytest.mark.parametrize(
        ("sentence", "acl"),
        [
            (
                "User:a may Read topic orders",
                Acl(2, 3, "orders", "User:a", "*", 3, Permission.ALLOW),
            ),
            (
                "User:a may not Write topic ord prefixed from 10.0.0.0/8",
                Acl(2, 4, "ord", "User:a", "10.0.0.0/8", 4, Permission.DENY),
            ),
            (
                '"User:CN=a, OU=b" may All group "my group"',
                Acl(3, 3, "my group", "User:CN=a, OU=b", "*", 2, Permission.ALLOW),
            ),
            ("User:* may Describe cluster", Acl(4, 3, "kafka-cluster", "User:*", "*", 8, 3)),
            ('User:a may Read topic "prefixed"', Acl(2, 3, "prefixed", "User:a", "*", 3, 3)),
            ("User:a may DescribeConfigs transactional_id *", Acl(5, 3, "*", "User:a", "*", 10, 3)),
        ],
    )
    def test_are_read_and_written(self, sentence: str, acl: Acl) -> None:
        assert read_acl(sentence) == acl
        assert read_acl(str(acl)) == acl
        assert str(acl) == sentence

    @pytest.mark.parametrize(
        ("given", "told"),
        [
            ("billing may Read topic orders", "write User:billing"),
            ("User:a can Read topic orders", r"may\|may not"),
            ("User:a may Consume topic orders", "'Consume' is no operation; there are all, read"),
            ("User:a may Read queue orders", "'queue' is no type of a resource"),
            ("User:a may Read topic", r"may\|may not"),
            ("User:a may Read topic orders and more", "'and' is one word too many"),
            ("", "is no ACL"),
            (5, "is no ACL"),
            ({"principal": "User:a"}, "an ACL has a resource_type"),
            ({"resource": "x"}, "'resource' is no field"),
            (
                {
                    "resourceType": "TOPIC",
                    "resourceName": "t",
                    "principal": "User:a",
                    "operation": "ANY",
                },
                "operation='ANY': it is one of ALL, READ",
            ),
            (
                {
                    "resource_type": "topic",
                    "resource_name": "t",
                    "principal": "a",
                    "operation": "read",
                },
                "write User:a",
            ),
        ],
    )
    def test_that_cannot_be_read(self, given: object, told: str) -> None:
        with pytest.raises(AclError, match=told):
            read_acl(given)  # type: ignore[arg-type]

    def test_fields_do_the_same(self) -> None:
        fields = {
            "resourceType": "TOPIC",
            "resourceName": "ord",
            "patternType": "PREFIXED",
            "principal": "User:a",
            "host": "1.2.3.4",
            "operation": "READ",
            "permissionType": "DENY",
        }
        assert read_acl(fields) == read_acl("User:a may not Read topic ord prefixed from 1.2.3.4")


class TestMeaning:
    @pytest.mark.parametrize(
        ("right", "implied"),
        [
            ("Read", True),
            ("Write", True),
            ("Delete", True),
            ("Alter", True),
            ("Create", False),
            ("AlterConfigs", False),
        ],
    )
    def test_describe_is_implied(self, right: str, implied: bool) -> None:
        """ACL-3."""
        authorizer = of(f"User:a may {right} topic orders")
        assert may(authorizer, O.DESCRIBE) is implied
        assert may(authorizer, O.DESCRIBE_CONFIGS) is (right == "AlterConfigs")

    def test_denials_imply_nothing_but_all(self) -> None:
        """ACL-3."""
        authorizer = of("User:a may All topic orders", "User:a may not Describe topic orders")
        assert may(authorizer, O.READ) and not may(authorizer, O.DESCRIBE)
        authorizer = of("User:a may All topic orders", "User:a may not Read topic orders")
        assert not may(authorizer, O.READ) and may(authorizer, O.DESCRIBE)
        authorizer = of("User:a may Read topic orders", "User:a may not All topic orders")
        assert not may(authorizer, O.READ) and not may(authorizer, O.DESCRIBE)

    def test_patterns(self) -> None:
        """ACL-4."""
        assert not may(of("User:a may Read topic ord*"), O.READ)
        assert may(of("User:a may Read topic *"), O.READ)
        assert not may(of("User:a may Read topic * prefixed"), O.READ)
        assert may(of("User:a may Read topic * prefixed"), O.READ, "*x")
        assert may(of("User:a may Read topic ord prefixed"), O.READ)
        assert not may(of("User:a may Read topic ord prefixed"), O.READ, "or")
        denied = of("User:a may Read topic orders", "User:a may not Read topic ord prefixed")
        assert not may(denied, O.READ)

    @pytest.mark.parametrize(
        ("host", "meant"),
        [
            ("127.0.0.1", True),
            ("127.0.0.2", False),
            ("127.0.0.0/8", True),
            ("127.9.9.9/8", True),
            ("::/0", False),
            ("localhost", False),
            ("10.0.0.0/99", False),
            ("nonsense", False),
        ],
    )
    def test_hosts(self, host: str, meant: bool) -> None:
        """ACL-5."""
        sentence = f"User:a may Read topic orders from {host}"
        assert may(of(sentence), O.READ) is meant
        before = of(sentence, host_blocks=False)
        assert may(before, O.READ) is (meant and "/" not in host)

    def test_people(self) -> None:
        """ACL-6."""
        assert may(of("User:* may Read topic orders"), O.READ)
        assert not may(of("Group:a may Read topic orders"), O.READ)
        assert not may(of("user:a may Read topic orders"), O.READ)
        assert not may(of("User:A may Read topic orders"), O.READ)
        denied = of("User:a may not All topic *", super_users=["User:a"])
        assert may(denied, O.READ)

    def test_without_any_acl_about_it(self) -> None:
        assert not may(of(), O.READ)
        everybody = of("User:b may Read topic orders", allow_everyone=True)
        assert may(everybody, O.READ, "other") and not may(everybody, O.READ)

    def test_a_change_is_heard_of_at_once(self) -> None:
        authorizer, acl = of(), read_acl("User:a may Read topic orders")
        assert not may(authorizer, O.READ)
        assert authorizer.add([acl, acl]) == [acl]
        assert authorizer.add([acl]) == []
        assert may(authorizer, O.READ)
        assert authorizer.remove([acl, acl], now=5) == [acl]
        assert not may(authorizer, O.READ)
        assert authorizer.why_refused("User:a", HERE, O.READ, TOPIC, "orders") == (acl, 5)
        deny = read_acl("User:a may not Read topic orders")
        authorizer.add([deny])
        assert authorizer.why_refused("User:a", HERE, O.READ, TOPIC, "orders") == (deny, None)
        assert authorizer.why_refused("User:a", HERE, O.READ, TOPIC, "other") == (None, None)

    @pytest.mark.parametrize(
        ("acls", "allowed"),
        [
            ([], False),
            (["User:a may Write topic t"], True),
            (["User:a may All topic t"], True),
            (["User:a may Write topic t prefixed"], True),
            (["User:a may Read topic t"], False),
            (["User:a may Write group t"], False),
            (["User:b may Write topic t"], False),
            (["User:a may Write topic t", "User:a may not Write topic *"], False),
            (["User:a may Write topic t", "User:a may not Write topic t"], False),
            (["User:a may Write topic t", "User:a may not Write topic t prefixed"], False),
            (["User:a may Write topic t", "User:a may not Write topic u"], True),
            (["User:a may Write topic *", "User:a may not Write topic u"], True),
        ],
    )
    def test_any_topic(self, acls: list[str], allowed: bool) -> None:
        """REF-3."""
        assert of(*acls).allows_any("User:a", HERE, O.WRITE, TOPIC) is allowed


class TestFilters:
    """ACL-8."""

    ALL = (
        "User:a may Read topic orders",
        "User:a may Read topic ord prefixed",
        "User:a may Read topic *",
        "User:a may Read group orders",
    )

    @pytest.mark.parametrize(
        ("wanted", "found"),
        [
            (AclFilter(), (0, 1, 2, 3)),
            (AclFilter(resource_type=2), (0, 1, 2)),
            (AclFilter(resource_type=99), ()),
            (AclFilter(name="orders"), (0, 3)),
            (AclFilter(name="orders", pattern_type=PatternType.MATCH), (0, 1, 2, 3)),
            (AclFilter(2, PatternType.MATCH, "other"), (2,)),
            (AclFilter(name="*"), (2,)),
            (AclFilter(name=""), ()),
            (AclFilter(pattern_type=77), ()),
            (AclFilter(operation=O.WRITE), ()),
            (AclFilter(principal="User:b"), ()),
            (AclFilter(host="1.2.3.4"), ()),
            (AclFilter(permission=Permission.DENY), ()),
        ],
    )
    def test_find(self, wanted: AclFilter, found: tuple[int, ...]) -> None:
        assert list(map(str, of(*self.ALL).find(wanted))) == [self.ALL[each] for each in found]
