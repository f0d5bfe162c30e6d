"""`python -m tools.message_definitions` prints what a jar of Kafka adds to our message tables."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.message_definitions import main

AS_OURS = """// A comment with a "quotation".
{
  "apiKey": 12, "type": "request", "name": "HeartbeatRequest",
  "validVersions": "0-4", "flexibleVersions": "4+",
  "fields": [
    { "name": "GroupId", "type": "string", "versions": "0+", "about": "see http://kafka" }, // as in 0
    { "name": "GenerationId", "type": "int32", "versions": "0+" },
    { "name": "MemberId", "type": "string", "versions": "0+" },
    { "name": "GroupInstanceId", "type": "string", "versions": "3+", "nullableVersions": "3+" }
  ]
}
"""
GROWN = AS_OURS.replace('"0-4"', '"0-5", "latestVersionUnstable": true').replace(
    '"fields": [', '"fields": [ { "name": "Mood", "type": "int8", "versions": "5+", "tag": 3 },'
)
NESTED = """{
  "apiKey": 13, "type": "request", "name": "LeaveGroupRequest",
  "validVersions": "0-5", "flexibleVersions": "4+",
  "commonStructs": [ { "name": "MemberIdentity", "fields": [
    { "name": "MemberId", "type": "string", "versions": "3+" },
    { "name": "Weight", "type": "int32", "versions": "5+" }
  ] } ],
  "fields": [
    { "name": "GroupId", "type": "string", "versions": "1+" },
    { "name": "Members", "type": "[]MemberIdentity", "versions": "3+" }
  ]
}
"""
NEW = """{ "apiKey": 900, "type": "response", "name": "MoodResponse",
  "validVersions": "0-1", "flexibleVersions": "0+", "fields": [] }"""
REMOVED = """{ "apiKey": 901, "type": "request", "name": "OldRequest", "validVersions": "none" }"""
HEADER = """{ "type": "header", "name": "RequestHeader", "validVersions": "0-9", "fields": [] }"""


def jar(folder: Path, *definitions: str) -> str:
    path = folder / "kafka-clients.jar"
    with ZipFile(path, "w") as archive:
        for number, text in enumerate(definitions):
            archive.writestr(f"common/message/{number}.json", text)
        archive.writestr("org/apache/kafka/Some.class", b"\xca\xfe")
    return str(path)


def test_a_jar_that_adds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([jar(tmp_path, AS_OURS, REMOVED, HEADER)]) == 0
    assert capsys.readouterr().out == "no message differs\n"


def test_versions_fields_and_messages_that_our_tables_lack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([jar(tmp_path, GROWN, NESTED, NEW)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "HeartbeatRequest: versions 0-5, ours 0-4; 5 is unstable",
        "HeartbeatRequest.Mood: int8, versions 5, tag 3, not in the table",
        "LeaveGroupRequest.GroupId: versions 1-5, ours 0+",
        "LeaveGroupRequest.Members.Weight: int32, versions 5, not in the table",
        "MoodResponse (key 900): versions 0-1, no table",
    ]


def test_what_is_no_jar(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.jar").write_text("text")
    for given in (str(tmp_path / "text.jar"), str(tmp_path / "none.jar")):
        assert main([given]) == 2
        assert given in capsys.readouterr().err
    assert main([]) == 2
    assert "give a release, such as 4.5.0" in capsys.readouterr().err
