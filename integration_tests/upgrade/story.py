"""The story: three brokers of one release are started one after the other as the next one, then
features are raised; what brokers advertise, what they allow, and what two groups see meanwhile.

Rules: brokers are told by their part (who was the controller at first, the two others), for chance
decides which is which; every step waits until the cluster is whole again. Judges nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from coordinator.base.releases import Release, release_named
from integration_tests.cluster.stage import (
    BROKERS,
    Patient,
    await_true,
    lay_out,
    whole,
)
from integration_tests.upgrade.hosts import UpgradeHosts

Told = list[dict[str, Any]]

TOPIC: Final = "orders"
_MOVING: Final = (14, 15, 16)
"""COORDINATOR_LOAD_IN_PROGRESS, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR."""
_NOT_SERVED: Final = "streams.version"
"""Finalised at 0 by the emulator (docs/divergences.md)."""
_NEWS: Final = 94
"""UnregisterController: the one request that only the new release of the story has, and that is
handed on to the controller."""
_UPGRADE, _DOWNGRADE = 1, 2
_SESSION_MS: Final = 600_000


class Upgrade:
    """One telling of the story."""

    def __init__(self, hosts: UpgradeHosts, old: str, new: str) -> None:
        self.told: Told = []
        self._hosts = hosts
        self._old, self._new = release_named(old), release_named(new)
        self._addresses = hosts.bootstrap_servers.split(",")
        self._patient = Patient(self._addresses)
        self._release: dict[int, Release] = dict.fromkeys(BROKERS, self._old)
        self._part: dict[int, str] = {}
        self._classic: dict[str, Any] = {}
        self._consumer: dict[str, Any] = {}
        self._commits = 0

    def tell(self) -> Told:
        """All of it."""
        lay_out(self._addresses)
        first = self._controller()
        one, two = (node for node in BROKERS if node != first)
        self._part = {one: "one", two: "two", first: "first controller"}
        self._begin_groups()
        self._look("before")
        self._roll(one, self._new)
        self._look("one is new")
        self._raise_early(one)
        self._roll(two, self._new)
        self._roll(first, self._old)
        self._look("only the first controller is old, and it controls no more")
        self._raise_early(first)
        self._roll(first, self._new)
        self._look("all are new")
        self._update("share.version", self._level("share.version"), _UPGRADE)
        self._back(one, "share.version")
        self._update("share.version", self._old.features["share.version"].highest, _DOWNGRADE)
        self._back(one, "share.version, and lowered again")
        self._update("metadata.version", self._level("metadata.version"), _UPGRADE)
        self._update("metadata.version", self._old.features["metadata.version"].highest, _DOWNGRADE)
        self._back(two, "metadata.version")
        self._update("share.version", self._level("share.version"), _UPGRADE)
        self._look("features are raised")
        self._patient.close()
        return self.told

    # -- what is done

    def _roll(self, node: int, release: Release) -> None:
        self._patient.forget(node)
        self._hosts.stop(node)
        ended = self._hosts.start(node, release.name)
        assert not ended, ended
        self._release[node] = release
        whole(self._addresses)

    def _back(self, node: int, feature: str) -> None:
        """A broker is started as the old release, which lacks a level, and then as the new one."""
        self._patient.forget(node)
        self._hosts.stop(node)
        why = self._hosts.start(node, self._old.name)
        self._say("back", part=self._part[node], raised=feature, ended=why)
        self._hosts.start(node, self._new.name)
        whole(self._addresses)

    def _update(self, feature: str, level: int, kind: int) -> None:
        for_one = self._asked(
            1,
            "UpdateFeatures",
            2,
            timeout_ms=30_000,
            feature_updates=[
                {"feature": feature, "max_version_level": level, "upgrade_type": kind}
            ],
            validate_only=False,
        )
        self._say(
            "update",
            feature=feature,
            level=level,
            error=for_one["error_code"],
            words=self._by_part((for_one["error_message"] or "").rpartition("error: ")[2]),
        )
        if not for_one["error_code"]:
            await_true(
                lambda: all(self._features(node).get(feature, 0) == level for node in BROKERS),
                f"{feature} was never at {level}",
            )

    def _raise_early(self, via: int) -> None:
        """While a broker is old: what the new levels are refused with, whichever broker is asked."""
        for feature in ("metadata.version", "share.version"):
            self._update(feature, self._level(feature), _UPGRADE)
        nonsense = self._asked(
            via,
            "UpdateFeatures",
            2,
            timeout_ms=30_000,
            feature_updates=[
                {"feature": "nonsense", "max_version_level": 1, "upgrade_type": _UPGRADE}
            ],
            validate_only=False,
        )
        self._say("update", words=self._by_part(nonsense["error_message"].rpartition("error: ")[2]))

    # -- what is seen

    def _look(self, when: str) -> None:
        controller = self._release[self._controller()]
        await_true(
            lambda: all(
                (_NEWS in self._versions(node))
                is (_NEWS in self._release[node].api_versions and _NEWS in controller.api_versions)
                for node in BROKERS
            ),
            f"{when}: UnregisterController was never advertised as far as both have it",
        )
        for node, part in sorted(self._part.items(), key=lambda item: item[1]):
            own, told = self._release[node].api_versions, self._versions(node)
            apart = {
                str(key): told.get(key)
                for key in sorted(own.keys() | told.keys())
                if told.get(key) != own.get(key)
            }
            self._say(
                when,
                part=part,
                release=self._release[node].name,
                apart_from_its_release=apart,
                finalized=self._features(node),
            )
        self._say(when, groups=[self._live(self._classic), self._live(self._consumer)])

    def _answer(self, node: int) -> Mapping[str, Any]:
        return self._asked(
            node, "ApiVersions", 4, client_software_name="raw", client_software_version="1"
        )

    def _versions(self, node: int) -> dict[int, tuple[int, int]]:
        rows = self._answer(node)["api_keys"]
        return {row["api_key"]: (row["min_version"], row["max_version"]) for row in rows}

    def _features(self, node: int) -> dict[str, int]:
        rows = self._answer(node)["finalized_features"]
        return {
            row["name"]: row["max_version_level"]
            for row in sorted(rows, key=lambda row: str(row["name"]))
            if row["name"] != _NOT_SERVED
        }

    def _controller(self) -> int:
        topics = [{"topic_name": "__cluster_metadata", "partitions": [{"partition_index": 0}]}]
        answer = self._asked(1, "DescribeQuorum", 0, topics=topics)
        return int(answer["topics"][0]["partitions"][0]["leader_id"])

    def _level(self, feature: str) -> int:
        return self._new.features[feature].highest

    def _by_part(self, words: str) -> str:
        for node, part in self._part.items():
            words = words.replace(f"Broker {node} ", f"Broker <{part}> ")
            words = words.replace(f"Local controller {node} ", "Local controller <the controller> ")
        return words

    # -- groups

    def _begin_groups(self) -> None:
        self._asked(
            1,
            "CreateTopics",
            7,
            topics=[{"name": TOPIC, "num_partitions": 2, "replication_factor": 3}],
            timeout_ms=30_000,
            validate_only=False,
        )
        whole(self._addresses)
        joining = {
            "group_id": "classic",
            "session_timeout_ms": _SESSION_MS,
            "rebalance_timeout_ms": _SESSION_MS,
            "group_instance_id": "static",
            "protocol_type": "consumer",
            "protocols": [{"name": "range", "metadata": ""}],
        }
        member = self._coordinated("classic", "JoinGroup", 9, **joining)
        self._classic = {
            "group_id": "classic",
            "generation_id": member["generation_id"],
            "member_id": member["member_id"],
            "group_instance_id": "static",
        }
        self._coordinated(
            "classic",
            "SyncGroup",
            5,
            **self._classic,
            protocol_type="consumer",
            protocol_name="range",
            assignments=[{"member_id": member["member_id"], "assignment": "00"}],
        )
        heard = self._coordinated(
            "consumer",
            "ConsumerGroupHeartbeat",
            1,
            group_id="consumer",
            member_id="m" * 22,
            member_epoch=0,
            rebalance_timeout_ms=_SESSION_MS,
            subscribed_topic_names=[TOPIC],
            topic_partitions=[],
        )
        self._consumer = {
            "group_id": "consumer",
            "member_id": "m" * 22,
            "member_epoch": heard["member_epoch"],
        }

    def _live(self, who: Mapping[str, Any]) -> dict[str, Any]:
        """A heartbeat, and a commit that is read again."""
        group, classic = who["group_id"], "generation_id" in who
        api, version = ("Heartbeat", 4) if classic else ("ConsumerGroupHeartbeat", 1)
        beat = self._coordinated(group, api, version, **who)
        self._commits += 1
        entry = {"partition_index": 0, "committed_offset": self._commits}
        epoch = who["generation_id"] if classic else who["member_epoch"]
        committed = self._coordinated(
            group,
            "OffsetCommit",
            9,
            group_id=group,
            member_id=who["member_id"],
            group_instance_id=who.get("group_instance_id"),
            generation_id_or_member_epoch=epoch,
            topics=[{"name": TOPIC, "partitions": [entry]}],
        )
        read = self._coordinated(
            group,
            "OffsetFetch",
            8,
            groups=[{"group_id": group, "topics": [{"name": TOPIC, "partition_indexes": [0]}]}],
        )
        partition = read["groups"][0]["topics"][0]["partitions"][0]
        return {
            "group": group,
            "heartbeat": beat["error_code"],
            "epoch": epoch,
            "told": epoch if classic else beat["member_epoch"],
            "commit": committed["topics"][0]["partitions"][0]["error_code"],
            "kept": partition["committed_offset"] == self._commits,
        }

    def _coordinated(self, group: str, api: str, version: int, **fields: Any) -> Mapping[str, Any]:
        """The answer of a group's coordinator, wherever it is by now."""
        answer: Mapping[str, Any] = {}

        def asked() -> bool:
            nonlocal answer
            found = self._asked(1, "FindCoordinator", 4, key_type=0, coordinator_keys=[group])
            coordinator = found["coordinators"][0]
            if coordinator["error_code"]:
                return False
            answer = self._asked(coordinator["node_id"], api, version, **fields)
            return not _errors(answer) & {*_MOVING}

        await_true(asked, f"{api} of group {group} was never answered by its coordinator")
        return answer

    def _asked(self, node: int, api: str, version: int, **fields: Any) -> Mapping[str, Any]:
        answer: Mapping[str, Any] | None = None

        def asked() -> bool:
            nonlocal answer
            answer = self._patient.ask(node, api, version, **fields)
            return answer is not None

        await_true(asked, f"broker {node} never answered {api}")
        assert answer is not None
        return answer

    def _say(self, what: str, **facts: Any) -> None:
        self.told.append({"at": what, **facts})


def _errors(value: object) -> set[int]:
    """Every error code in an answer."""
    if isinstance(value, dict):
        own = {value["error_code"]} if "error_code" in value else set()
        return own.union(*(_errors(each) for each in value.values()))
    return set().union(*map(_errors, value)) if isinstance(value, list) else set()


def told(hosts: UpgradeHosts, old: str, new: str) -> Told:
    """The story of an upgrade, as these brokers tell it."""
    return Upgrade(hosts, old, new).tell()
