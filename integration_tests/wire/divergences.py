"""Scenarios in which the emulator is known to part from Kafka 4.4.0: by name, with the reason.
Short, and kept honest."""

from __future__ import annotations

from typing import Final

DIVERGENCES: Final[dict[str, str]] = {
    "kafka_faults.null_records": "Kafka never answers; we refuse",
    "kafka_faults.one_protocol_twice": "Kafka never answers and the group hangs; we count it once",
    "kafka_faults.one_resource_twice_in_alter_configs": "Kafka never answers; we refuse",
}

OF_RELEASES: Final[dict[str, dict[str, str]]] = {
    "4.3": {
        "kafka_faults.a_subscription_that_lies_about_its_length": "Kafka never answers and the group hangs; we take it as unreadable",
        "newer_versions.an_upgrade_of_malformed_members": "Kafka never answers the malformed join; we take it as unreadable",
        "newer_versions.many_partitions_at_once": "Kafka counts the new partitions of all topics together; we each topic's",
    },
    "4.2": {
        "consumer_groups.three_members_are_reconciled": "Kafka tells partitions that stay in the order of a larger hash table",
        "newer_versions.many_partitions_at_once": "Kafka counts the new partitions of all topics together; we each topic's",
    },
}
"""What else differs when an older release is emulated."""

ADVERTISED: Final[dict[str, str]] = {"feature streams.version": "streams groups are not served"}
"""What is advertised differently in any release, by the names of `integration_tests.wire.advertised`."""
