"""Scenarios in which the emulator is known to part from Kafka 4.4.0: by name, with the reason.
Short, and kept honest."""

from __future__ import annotations

from typing import Final

DIVERGENCES: Final[dict[str, str]] = {
    "kafka_faults.null_records": "Kafka never answers; we refuse",
    "kafka_faults.one_protocol_twice": "Kafka never answers and the group hangs; we count it once",
    "kafka_faults.one_resource_twice_in_alter_configs": "Kafka never answers; we refuse",
}

_UNREADABLE = "Kafka never answers and the group hangs; we take it as unreadable"
_UNREADABLE_JOIN = "Kafka never answers the malformed join; we take it as unreadable"
_LARGER_TABLE = "Kafka tells partitions that stay in the order of a larger hash table"
_UNWRITTEN = "Kafka shows a new classic group once something is written to its partition"
_BUMPED = "Kafka bumps a share group once more"
_FROM_ZERO = "Kafka makes a share group at epoch 0 when its offsets are set; we at 1"
_STARTED = "Kafka goes on telling when a transaction began that a new producer ended"
_NULL_RECORDS = "Kafka's refused Fetch has null in place of records; ours has none"
_PENDING_MAKES = (
    "Kafka has a group as soon as a transaction commits offsets to it; we once it has ended"
)
_NAMELESS = "Kafka's Fetch of the zero topic id fails in a session; ours tells of it"
_NAMED_TWICE = "Kafka answers a partition that is named twice once; we twice"
OF_RELEASES: Final[dict[str, dict[str, str]]] = {
    "4.3": {
        "kafka_faults.a_subscription_that_lies_about_its_length": _UNREADABLE,
        "newer_versions.an_upgrade_of_malformed_members": _UNREADABLE_JOIN,
        "newer_versions.many_partitions_at_once": "Kafka counts the new partitions of all topics together; we each topic's",
    },
    "4.2": {
        "fetch_sessions.topics_without_name_and_id": _NAMELESS,
        "share_groups.six_partitions_among_three": _BUMPED,
        "share_groups.two_members": _BUMPED,
        "share_offsets.a_member_reads_where_it_was_told": _FROM_ZERO,
        "share_offsets.offsets_deleted": _FROM_ZERO,
        "share_offsets.offsets_make_a_group": _FROM_ZERO,
        "share_states.epochs_of_leaders": "Kafka takes -1 as an old leader epoch when a state is read; we as none",
        "consumer_groups.three_members_are_reconciled": _LARGER_TABLE,
        "newer_versions.many_partitions_at_once": "Kafka counts the new partitions of all topics together; we each topic's",
    },
    "4.1": {
        "cleanup.a_group_that_comes_back_starts_anew": _UNWRITTEN,
        "consumer_groups.three_members_are_reconciled": _LARGER_TABLE,
        "fetch_sessions.topics_without_name_and_id": _NAMELESS,
        "kafka_faults.a_subscription_that_lies_about_its_length": _UNREADABLE,
        "newer_versions.an_upgrade_of_malformed_members": _UNREADABLE_JOIN,
        "static_members.a_static_join_takes_one_step": _UNWRITTEN,
    },
    "4.0": {
        "admin_groups.list_in_every_version": _UNWRITTEN,
        "consumer_groups.three_members_are_reconciled": _LARGER_TABLE,
        "consumer_regexes.a_regex_of_its_own": "Kafka takes an empty expression for none given",
        "fetch_sessions.topics_without_name_and_id": _NAMELESS,
        "join_group.a_whole_life_in_every_version": _UNWRITTEN,
        "join_group.client_ids_in_member_ids": _UNWRITTEN,
        "kafka_faults.a_subscription_that_lies_about_its_length": _UNREADABLE,
        "newer_versions.an_upgrade_of_malformed_members": _UNREADABLE_JOIN,
        "newer_versions.settings_of_groups": "Kafka does not know share.auto.offset.reset by a duration",
        "offsets.several_groups_at_once": "Kafka never answers a request without groups; we do",
        "transactions.a_new_producer_fences_the_old": _STARTED,
        "transactions.a_new_producer_fences_the_old_before_v2": _STARTED,
        "transactions.recovery_in_the_middle": _STARTED,
    },
    "3.9": {
        "admin_groups.doubled_groups_stand_with_their_partition": "Kafka describes groups in the order of the request; we by partition",
        "admin_groups.list_with_filters": "Kafka takes states to filter by with their blanks",
        "fetch.offsets_inside_batches": _NULL_RECORDS,
        "fetch_sessions.topics_without_name_and_id": _NAMELESS,
        "hostile.unknown_keys_and_versions": "Kafka serves Produce 0 to 2 and Fetch 0 to 3; we do not",
        "join_leaders.tied_votes": "Kafka breaks ties of votes in the order of another hash table",
        "kafka_faults.a_subscription_that_lies_about_its_length": _UNREADABLE,
        "log_offsets.errors_of_list_offsets": "Kafka answers a partition that is named twice twice; we once",
        "matrix.admin_in_Empty": "Kafka's OffsetDelete of unknown topics of an empty group is 69; ours tells of each",
        "offsets.offset_delete": _NAMED_TWICE,
        "offsets.several_groups_at_once": "Kafka never answers a request without groups; we do",
        "offsets.unknown_topics": _NAMED_TWICE,
        "random_frames.seed_002": _NULL_RECORDS,
        "random_transactions.life_01": _PENDING_MAKES,
        "random_transactions.life_03": "Kafka fences (90) a producer that begins anew under its old epoch; we let it",
        "random_transactions.life_08": _PENDING_MAKES,
        "rights.configurations": "Kafka knows no configurations of groups, whoever asks",
        "timeouts.a_pending_id_cuts_the_initial_delay_short": "Kafka waits for the delay to its end",
        "transactional_offsets.deleted_pending_offsets": _PENDING_MAKES,
        "transactional_offsets.offsets_of_members_in_a_transaction": _PENDING_MAKES,
        "transactions.a_new_producer_fences_the_old_before_v2": _STARTED,
    },
}
"""What else differs when an older release is emulated."""

ADVERTISED: Final[dict[str, str]] = {"feature streams.version": "streams groups are not served"}
"""What is advertised differently in any release, by the names of `integration_tests.wire.advertised`."""
