"""The list of what brokers can log about groups, beside the classes of Kafka itself.

`tests/clusters/test_broker_formats.py` holds the readers of `coordinator diagnose` to that list. A release whose
list is not complete has lines that nobody reads.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tools.kafka_formats import LEVELS, Format, formats
from tools.kafka_jars import NoJavaError, jars, reference

from .conftest import REQUIRED

LIST = Path(__file__).parent.parent / "tests" / "clusters" / "broker_formats.tsv"


def listed(release: str) -> set[Format]:
    rows = csv.DictReader(
        LIST.read_text(encoding="utf-8").splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE
    )
    return {
        _form(row["class"], row["level"], row["format"])
        for row in rows
        if release in row["releases"].split(",") and row["level"] in LEVELS
    }


def _form(class_name: str, level: str, text: str) -> Format:
    return Format(class_name.partition("$")[0], level, text.strip())


@pytest.mark.parametrize(
    "release",
    [
        reference(),
        *(
            pytest.param(release, marks=pytest.mark.thorough)
            for release in ("3.9.2", "4.0.2", "4.3.1")
        ),
    ],
)
def test_every_format_of_the_jars_is_in_the_list(release: str) -> None:
    try:
        folder = jars(release)
    except NoJavaError as missing:
        if REQUIRED:
            raise
        pytest.skip(str(missing))
    found = {_form(*each) for each in formats(folder)}
    assert found == listed(release)
