"""Topics that a broker has from the start: what is given is looked through once, however much it is."""

from __future__ import annotations

import pytest

from coordinator.lab.reassign.files import FileError, read_topics
from coordinator.server.build import TopicError, topic_options


class Name(str):
    """A text that counts how often it is compared."""

    compared = 0
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_each_name_is_compared_with_few_others() -> None:
    Name.compared = 0
    assert len(topic_options({Name(f"t-{number}"): 1 for number in range(2_000)})) == 2_000
    assert Name.compared < 10 * 2_000


def test_the_first_name_that_cannot_be_is_told() -> None:
    with pytest.raises(TopicError, match="topic b is given twice"):
        topic_options(["a", "b", "b:2", "__consumer_offsets", "c", "c"])
    with pytest.raises(TopicError, match="topic __consumer_offsets is there anyway"):
        topic_options(["__consumer_offsets", "b", "b"])


def test_topics_to_reassign_that_are_doubled_are_all_told() -> None:
    topics = ", ".join(f'{{"topic": "{name}"}}' for name in ("b", "a", "b", "c", "a"))
    with pytest.raises(FileError, match=r"duplicate entries: a,b$"):
        read_topics(f'{{"version": 1, "topics": [{topics}]}}')
