"""`coordinator wire decode` and `encode`, as another program uses them: lines in, lines out."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable

import pytest

from coordinator.cli import main
from tests.wire.samples import VECTORS

Wire = Callable[[str, bytes], tuple[int, str, str]]


def process(command: str, text: bytes | str) -> subprocess.CompletedProcess[str]:
    raw = text.encode() if isinstance(text, str) else text
    done = subprocess.run(
        [sys.executable, "-m", "coordinator", "wire", command],
        input=raw,
        capture_output=True,
        timeout=300,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


@pytest.mark.parametrize(
    ("command", "given", "added"), [("decode", "hex", "value"), ("encode", "value", "hex")]
)
def test_all_vectors(command: str, given: str, added: str) -> None:
    lines = [json.loads(line) for line in gzip.decompress(VECTORS.read_bytes()).splitlines()]
    bare = [{name: line[name] for name in line if name != added} for line in lines]
    assert all(given in line for line in bare)
    done = process(command, "\n".join(json.dumps(line) for line in bare))
    assert (done.returncode, done.stderr) == (0, "")
    assert [json.loads(line) for line in done.stdout.splitlines()] == lines


@pytest.fixture
def wire(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Wire:
    """Run the command here: (exit status, standard output, standard error)."""

    def run(command: str, raw: bytes) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(raw)))
        status = main(["wire", command])
        return status, *capsys.readouterr()

    return run


def test_api_or_key_is_enough_and_other_keys_pass_through(wire: Wire) -> None:
    by_name = (
        '{"api":"Heartbeat","dir":"response","version":4,"hex":"00000000001b00","note":{"at":1}}'
    )
    by_key = '{"key":12,"dir":"response","version":0,"hex":"001b"}'
    status, out, _ = wire("decode", f"{by_name}\n\n{by_key}".encode())
    assert status == 0
    first, second = map(json.loads, out.splitlines())
    assert first["value"] == {"throttle_time_ms": 0, "error_code": 27}
    assert first["note"] == {"at": 1}
    assert second == {
        "key": 12,
        "dir": "response",
        "version": 0,
        "hex": "001b",
        "value": {"error_code": 27},
    }


GOOD = '{"key":12,"dir":"response","version":0,"hex":"001b","value":{"error_code":27}}'
HEAD = '{"key":12,"dir":"response","version":4,'
BAD = [
    ("decode", "x", "not JSON"),
    ("decode", "[1]", "one JSON object"),
    ("decode", "[" * 100_000, "not JSON"),
    ("decode", b'{"api":"\xff"}', "UTF-8"),
    ("decode", '{"dir":"request"}', 'neither "api" nor "key"'),
    ("decode", '{"api":"Hartbeat"}', "Heartbeat"),
    ("decode", '{"key":4}', '"key" is 4'),
    ("decode", '{"key":true}', '"key" is true'),
    ("decode", '{"key":11,"api":"Heartbeat"}', "agree"),
    ("decode", '{"key":12,"dir":"up"}', '"request" or "response"'),
    ("decode", '{"key":12,"dir":"request"}', "0 to 4"),
    ("decode", '{"key":12,"dir":"request","version":true}', "0 to 4"),
    ("decode", '{"key":12,"dir":"request","version":5}', "0 to 4"),
    ("decode", HEAD[:-1] + "}", '"hex" is missing'),
    ("decode", HEAD + '"hex":12}', "bytes in hex"),
    ("decode", HEAD + '"hex":"000"}', "two digits"),
    ("decode", HEAD + '"hex":"00 00 00 00 00 00 00"}', "bytes in hex"),
    ("decode", HEAD + '"hex":"0000"}', "ends too early"),
    ("encode", HEAD[:-1] + "}", '"value" is missing'),
    ("encode", HEAD + '"value":[]}', "an object with the fields throttle_time_ms, error_code"),
    ("encode", HEAD + '"value":{"error_code":1}}', "'throttle_time_ms' is missing"),
    ("encode", HEAD + '"value":{"throttle_time_ms":0,"error_code":1,"eror":1}}', "no field 'eror'"),
    ("encode", HEAD + '"value":{"throttle_time_ms":0,"error_code":40000}}', "-32768 to 32767"),
    ("encode", HEAD + '"value":{"throttle_time_ms":0,"error_code":null}}', "null is not allowed"),
    ("encode", HEAD + '"value":{"throttle_time_ms":0,"error_code":true}}', "an integer"),
    (
        "encode",
        HEAD + '"value":{"throttle_time_ms":0,"error_code":0,"_unknown_tags":{"x":"00"}}}',
        "'x' is no tag",
    ),
    (
        "encode",
        HEAD + '"value":{"throttle_time_ms":0,"error_code":0,"_unknown_tags":{"5":"0"}}}',
        "two digits",
    ),
    (
        "encode",
        HEAD + '"value":{"throttle_time_ms":0,"error_code":0,"_unknown_tags":[]}}',
        "hex strings by tag",
    ),
    (
        "encode",
        '{"key":42,"dir":"request","version":0,"value":{"groups_names":["a",1]}}',
        "value.groups_names[1]: 1 is wrong",
    ),
    ("encode", '{"key":42,"dir":"request","version":0,"value":{"groups_names":"a"}}', "an array"),
    (
        "encode",
        '{"key":42,"dir":"request","version":0,"value":{"groups_names":["\\ud800"]}}',
        "UTF-8",
    ),
    (
        "encode",
        '{"key":42,"dir":"request","version":0,"value":{"groups_names":["' + "x" * 32768 + '"]}}',
        "32767 bytes at most",
    ),
]


@pytest.mark.parametrize(("command", "line", "said"), BAD, ids=[said for _, _, said in BAD])
def test_a_bad_line_is_named_and_nothing_before_it_is_lost(
    wire: Wire, command: str, line: bytes | str, said: str
) -> None:
    raw = line.encode() if isinstance(line, str) else line
    status, out, err = wire(command, GOOD.encode() + b"\n" + raw + b"\n" + GOOD.encode())
    assert status == 2
    assert out.splitlines() == [GOOD]
    assert err.startswith("coordinator wire: line 2: ")
    assert said in err
    assert len(err.splitlines()) == 1, "one line, no traceback"


@pytest.mark.parametrize(
    "arguments", [["wire"], ["wire", "translate"], ["wire", "decode", "--fast"]]
)
def test_wrong_usage(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "coordinator", *arguments],
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert b"usage" in done.stderr
