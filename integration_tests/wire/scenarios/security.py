"""Security that is not there (access rules, delegation tokens, SASL), and SCRAM credentials, which
are kept without it (KIP-554)."""

from __future__ import annotations

from typing import Any

from integration_tests.wire.raw import Plain
from integration_tests.wire.recorder import Link, Session
from integration_tests.wire.registry import scenario
from integration_tests.wire.scenarios.cluster_admin import await_answer

ANY_RESOURCE, ANY_PATTERN, ANY_OPERATION, ANY_PERMISSION = 1, 1, 1, 1


def acl_filter(**other: Any) -> Plain:
    """A filter that lets everything through, but for what is named."""
    return {
        "resource_type_filter": ANY_RESOURCE,
        "resource_name_filter": None,
        "pattern_type_filter": ANY_PATTERN,
        "principal_filter": None,
        "host_filter": None,
        "operation": ANY_OPERATION,
        "permission_type": ANY_PERMISSION,
        **other,
    }


def acl(**other: Any) -> Plain:
    """An access rule, but for what is named."""
    return {
        "resource_type": 2,
        "resource_name": "t",
        "resource_pattern_type": 3,
        "principal": "User:a",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
        **other,
    }


@scenario()
def no_authorizer(s: Session) -> None:
    """Access rules cannot be described, made or deleted (54); nothing asked, nothing refused."""
    a = s.connect()
    for version in (1, 2, 3):
        a.ask("DescribeAcls", version, **acl_filter())
        a.ask(
            "DescribeAcls",
            version,
            **acl_filter(resource_type_filter=2, resource_name_filter="x", pattern_type_filter=4),
        )
        a.ask("CreateAcls", version, creations=[])
        a.ask("CreateAcls", version, creations=[acl(), acl(resource_pattern_type=4)])
        a.ask("DeleteAcls", version, filters=[])
        a.ask("DeleteAcls", version, filters=[acl_filter(), acl_filter(principal_filter="User:a")])
    a.ask(
        "DescribeAcls",
        3,
        **acl_filter(resource_type_filter=99, pattern_type_filter=77, operation=-1),
    )
    a.ask(
        "CreateAcls", 3, creations=[acl(resource_type=99, resource_name="", principal="nonsense")]
    )
    a.ask("DeleteAcls", 3, filters=[acl_filter(resource_type_filter=99, permission_type=55)])


@scenario()
def acls_with_unknown_elements(s: Session) -> None:
    """An element that says UNKNOWN (0) is no request: the connection is closed."""
    for index, unknown in enumerate(
        ("resource_type_filter", "pattern_type_filter", "operation", "permission_type")
    ):
        bad = acl_filter(**{unknown: 0})
        for api, fields in (
            ("DescribeAcls", bad),
            ("DeleteAcls", {"filters": [acl_filter(), bad]}),
        ):
            link = s.connect(f"{api}-{index}")
            link.send(api, 1 + index % 3, **fields)
            link.ends()
    for index, unknown in enumerate(
        ("resource_type", "resource_pattern_type", "operation", "permission_type")
    ):
        link = s.connect(f"CreateAcls-{index}")
        link.send("CreateAcls", 1 + index % 3, creations=[acl(), acl(**{unknown: 0})])
        link.ends()


@scenario()
def no_delegation_tokens(s: Session) -> None:
    """Who is not authenticated gets none (64); the answer names the owner."""
    a = s.connect()
    user = {"principal_type": "User", "principal_name": "a"}
    for version in (1, 2, 3):
        for owners in (None, [], [user]):
            a.ask("DescribeDelegationToken", version, owners=owners)
        for renewers in ([], [user], [{"principal_type": "Group", "principal_name": "a"}]):
            a.ask("CreateDelegationToken", version, renewers=renewers, max_lifetime_ms=-1)
    for version in (1, 2):
        a.ask("RenewDelegationToken", version, hmac="00ff", renew_period_ms=5)
        a.ask("ExpireDelegationToken", version, hmac="", expiry_time_period_ms=-1)
    for kind, name in (
        ("User", "x"),
        ("Nope", "x"),
        ("", ""),
        (None, "x"),
        ("User", None),
        ("", "x"),
        ("User", ""),
        (None, None),
    ):
        a.ask(
            "CreateDelegationToken",
            3,
            owner_principal_type=kind,
            owner_principal_name=name,
            renewers=[],
            max_lifetime_ms=5,
        )


@scenario()
def no_sasl(s: Session) -> None:
    """A listener without it refuses (34), and the connection goes on."""
    a = s.connect()
    for version in (0, 1):
        a.ask("SaslHandshake", version, mechanism="PLAIN")
        a.ask("SaslHandshake", version, mechanism="")
    for version in (0, 1, 2):
        a.ask("SaslAuthenticate", version, auth_bytes="00")


SHA_256, SHA_512 = 1, 2


def upsert(
    user: str,
    mechanism: int = SHA_256,
    iterations: int = 4096,
    password: str = "aa",
    salt: str = "00ff",
) -> Plain:
    """A credential to be set."""
    return {
        "name": user,
        "mechanism": mechanism,
        "iterations": iterations,
        "salt": salt,
        "salted_password": password,
    }


def deletion(user: str, mechanism: int = SHA_256) -> Plain:
    """A credential to be removed."""
    return {"name": user, "mechanism": mechanism}


def scram(link: Link, *changes: Plain) -> Plain:
    """AlterUserScramCredentials, and the wait until it is seen."""
    gone, made = [c for c in changes if "salt" not in c], [c for c in changes if "salt" in c]
    answer = link.ask(
        "AlterUserScramCredentials", 0, shuffled="results", deletions=gone, upsertions=made
    )
    done = {r["user"] for r in answer["results"] if not r["error_code"]}
    for change in changes:
        if change["name"] in done:
            wanted = (change["mechanism"], change["iterations"]) if "salt" in change else None
            await_answer(
                link,
                "DescribeUserScramCredentials",
                0,
                lambda found, c=change, w=wanted: _has(found, c, w),  # type: ignore[misc]
                users=[{"name": change["name"]}],
            )
    return answer


def _has(found: Plain, change: Plain, wanted: tuple[int, int] | None) -> bool:
    infos = {(i["mechanism"], i["iterations"]) for i in found["results"][0]["credential_infos"]}
    return (
        wanted in infos
        if wanted
        else not any(mechanism == change["mechanism"] for mechanism, _ in infos)
    )


def credentials(link: Link, *users: str) -> None:
    """DescribeUserScramCredentials of these users."""
    answer = link.ask_quietly(
        "DescribeUserScramCredentials", 0, users=[{"name": user} for user in users]
    )
    results = [
        {**r, "credential_infos": sorted(r["credential_infos"], key=str)} for r in answer["results"]
    ]
    link.session.say(
        "credentials", {**answer, "results": sorted(results, key=lambda r: str(r["user"]))}
    )


@scenario()
def scram_credentials_kept(s: Session) -> None:
    """Set, shown, set anew, removed one by one."""
    a, user, other = s.connect(), s.name("u"), s.name("v")
    credentials(a, user)
    scram(a, upsert(user))
    credentials(a, user)
    scram(a, upsert(user, SHA_512, 8192), upsert(other, SHA_256, 16384))
    credentials(a, user, other)
    scram(a, upsert(user, SHA_256, 5000))
    credentials(a, user)
    scram(a, deletion(user), upsert(other, SHA_256, 4097))
    credentials(a, user, other)
    scram(a, deletion(user, SHA_512), deletion(other))
    credentials(a, user, other)


@scenario()
def scram_credentials_refused(s: Session) -> None:
    """Unknown mechanism (33), missing (91), a user twice (92), empty names and iterations out of
    bounds (93), no password (-1)."""
    a, user, other = s.connect(), s.name("u"), s.name("v")
    scram(a)
    scram(a, deletion(user))
    for mechanism in (0, 3, -1):
        scram(a, upsert(user, mechanism))
        scram(a, deletion(user, mechanism), upsert(other))
    for iterations in (4095, 16385, 0, -1):
        scram(a, upsert(user, SHA_512, iterations))
    scram(a, upsert(user, password=""))
    scram(a, upsert(user, salt=""))
    scram(a, deletion(user, SHA_512))
    scram(a, deletion(user), upsert(user))
    scram(a, deletion(user), upsert(user, SHA_512))
    scram(a, deletion(user), deletion(user))
    scram(a, upsert(user), upsert(user, SHA_512))
    scram(a, upsert(user, 9), upsert(user))
    scram(a, deletion(user), deletion(user), upsert(user), upsert(other, SHA_256, 1))
    scram(a, upsert(""), deletion(""))
    scram(a, upsert("", 9, 0))
    credentials(a, user, other)


@scenario(since="4.3")
def scram_credentials_of_two_faults(s: Session) -> None:
    """A user twice (92) is told before that it has no password (-1), which is found when it is set."""
    a, user, other = s.connect(), s.name("u"), s.name("v")
    for second in (upsert(user), upsert(user, SHA_512), upsert(user, 9), upsert(user, SHA_512, 1)):
        scram(a, upsert(user, password=""), second)
        scram(a, second, upsert(user, password=""))
    scram(a, upsert(user, password=""), upsert(other))
    scram(a, deletion(other), upsert(user, password=""))
    credentials(a, user, other)


@scenario()
def scram_credentials_described(s: Session) -> None:
    """Nobody is missing (91); a user twice (92); all, of whom only this run's are shown."""
    a, user = s.connect(), s.name("u")
    scram(a, upsert(user))
    credentials(a, "", s.name("nobody"), user)
    credentials(a, user, user, s.name("nobody"), s.name("nobody"))
    a.ask("DescribeUserScramCredentials", 0, only="results", users=None)
    a.ask("DescribeUserScramCredentials", 0, only="results", users=[])


@scenario("security", since="4.4")
def settings_of_listeners_and_the_authorizer(s: Session) -> None:
    """Those that were given are shown: a listener's own beside that of all listeners, the super users
    without value. Addresses that are told are shown if they were given."""
    keys = [
        "listener.name.reauth.plain.connections.max.reauth.ms",
        "listener.name.sasl.plain.connections.max.reauth.ms",
        "super.users",
        "advertised.listeners",
    ]
    resource = {"resource_type": 4, "resource_name": "1"}
    for key in keys:
        s.stage().ask(
            "DescribeConfigs",
            4,
            include_synonyms=True,
            resources=[{**resource, "configuration_keys": [key]}],
        )
