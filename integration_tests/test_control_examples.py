"""The examples in other languages pass as they stand, on a served emulator: examples/java with
Maven, examples/go with the go command, the cookbook's recipe with Go and Node at the same time; and
those of clients that log in (docs/security_clients.md), on one that speaks SASL_SSL alone. Of the
latter `make test` has Java's, `make fuzz` Go's and Node's too. The clients that are made of the
OpenAPI document are used by `make fuzz`, which compiles the Testcontainers modules as well;
test_emulator_image.py runs those.

Skipped with one line where a language's tools are missing, a failure if REQUIRE_REAL_BROKER is set.
What they build on is downloaded once.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

import pytest

from integration_tests.matrix.libraries import QUICK_GO

PROJECT = Path(__file__).resolve().parent.parent
EXAMPLES = PROJECT / "examples"
KAFKAJS = "kafkajs@2.2.4"
SECURED_PAGE = "security_clients.md"
LIMIT_S = 900
GO_TEST = ("go", "test", "-count=1", "-vet=off", "-v")
"""`go vet`, which looks at every package of Go and of the client library too, is a test of its own."""
QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of JVMs that run for seconds."""
MAVEN_TEST = ("mvn", "--batch-mode", "--no-transfer-progress", f"-DargLine={QUICK_JVM}", "test")
WITH_TOOLS = (1, 24)
"""The Go that runs the tools that a module names."""
TOKEN = "of the examples".replace(" ", "-")


@pytest.fixture(scope="module")
def control() -> Iterator[str]:
    """The control port of a served emulator, which asks for a token."""
    yield from served("--listen", "127.0.0.1:0")


@pytest.fixture(scope="module")
def secured() -> Iterator[str]:
    """The same of one whose clients log in over TLS."""
    yield from served("--listen", "SASL_SSL://127.0.0.1:0", "--user", "billing:secret")


def served(*options: str) -> Iterator[str]:
    """The control port of an emulator of its own, until the tests are over."""
    command = [sys.executable, "-m", "coordinator", "serve", *options, "--control", "127.0.0.1:0"]
    environment = os.environ | {"COORDINATOR_CONTROL_TOKEN": TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            ready = next(line for line in process.stdout if line.startswith("ready: "))
            yield ready.split()[3]
        finally:
            process.terminate()


def tools(*names: str) -> None:
    """Skip where one is missing, unless everything is required."""
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        said = f"no {', '.join(missing)} here"
        if os.environ.get("REQUIRE_REAL_BROKER", "") not in ("", "0"):
            pytest.fail(f"REQUIRE_REAL_BROKER is set: {said}", pytrace=False)
        pytest.skip(said)


def run(control: str, folder: Path, *command: str, secured: str = "") -> str:
    """What a test run prints; it has to pass. `secured`: the control port of the other emulator."""
    of_control = {"COORDINATOR_CONTROL": control, "COORDINATOR_CONTROL_TOKEN": TOKEN}
    environment = QUICK_GO | dict(os.environ) | of_control
    environment.setdefault("MAVEN_OPTS", QUICK_JVM)
    if secured:
        environment["COORDINATOR_SECURED"] = secured
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def recipe(name: str, page_name: str = "testing_cookbook.md") -> str:
    """A file of a page: the cookbook's recipe for suites that share a server, or another."""
    page = (PROJECT / "docs" / page_name).read_text()
    (block,) = re.findall(
        rf"^```\w+\n// {re.escape(name)}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL
    )
    return str(block)


def declared_in_go(source: str) -> set[str]:
    """Return the names of the tests in a Go file."""
    return set(re.findall(r"^func (Test\w+)\(", source, re.MULTILINE))


def passed_in_go(said: str) -> set[str]:
    """Return the names of the tests that `go test -v` calls passed."""
    return set(re.findall(r"^--- PASS: (\w+)", said, re.MULTILINE))


def declared_in_java(module: Path) -> set[str]:
    """Return the names of the tests of a Maven module."""
    sources = (path.read_text() for path in module.glob("src/test/java/**/*.java"))
    return set(re.findall(r"@Test\s+(?:public )?void (\w+)\(", "".join(sources)))


def passed_in_java(module: Path) -> set[str]:
    """Return the names of the tests of a Maven module that ran and passed, by its reports."""
    return {
        case.attrib["name"].partition("(")[0]
        for report in module.glob("target/surefire-reports/TEST-*.xml")
        for case in ET.parse(report).getroot().iter("testcase")
        if not {"failure", "error", "skipped"} & {each.tag for each in case}
    }


def test_java(control: str, secured: str, tmp_path: Path) -> None:
    """examples/java, and the recipe of a client that logs in."""
    tools("mvn", "java")
    java = tmp_path / "java"
    shutil.copytree(EXAMPLES / "java", java, ignore=shutil.ignore_patterns("target"))
    name = "SecuredTest.java"
    (java / "src/test/java/example" / name).write_text(recipe(name, SECURED_PAGE))
    run(control, java, *MAVEN_TEST, secured=secured)
    assert passed_in_java(java) == declared_in_java(java) != set()


def test_go(control: str) -> None:
    tools("go")
    said = run(control, EXAMPLES / "go", *GO_TEST, "./...")
    source = "".join(path.read_text() for path in (EXAMPLES / "go").glob("*_test.go"))
    assert passed_in_go(said) == declared_in_go(source)


@pytest.mark.thorough
def test_a_go_client_made_of_the_openapi_document(control: str, tmp_path: Path) -> None:
    """examples/control-go: made from what the port tells, compiled, and used."""
    tools("go")
    version = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True)
    if tuple(map(int, re.findall(r"\d+", version.stdout)[:2])) < WITH_TOOLS:
        pytest.skip(f"{version.stdout.strip()} knows no tools of a module: Go 1.24 does")
    module = tmp_path / "module"
    shutil.copytree(EXAMPLES / "control-go", module)
    document(control, module / "openapi.json")
    run(control, module, "go", "generate", "./...")
    said = run(control, module, *GO_TEST, "./...")
    assert "--- PASS: TestAGeneratedClient" in said


@pytest.mark.thorough
def test_a_java_client_made_of_the_openapi_document(control: str, tmp_path: Path) -> None:
    """examples/control-java, likewise."""
    tools("mvn", "java")
    module = tmp_path / "module"
    shutil.copytree(EXAMPLES / "control-java", module, ignore=shutil.ignore_patterns("target"))
    document(control, module / "openapi.json")
    run(control, module, *MAVEN_TEST)
    assert passed_in_java(module) == declared_in_java(module) != set()


def document(control: str, file: Path) -> None:
    """Keep the document that a control port tells."""
    request = Request(
        f"{control}/openapi.json?version=3.0", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    with urlopen(request, timeout=LIMIT_S) as answer:
        file.write_bytes(answer.read())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("language", "command"),
    [
        ("java", ("mvn", "--batch-mode", "--quiet", "test-compile")),
        ("go", ("go", "vet", "./...")),
    ],
)
def test_a_testcontainers_module_compiles(
    language: str, command: tuple[str, ...], tmp_path: Path
) -> None:
    tools(command[0])
    module = tmp_path / "module"
    source = EXAMPLES / f"testcontainers-{language}"
    shutil.copytree(source, module, ignore=shutil.ignore_patterns("target"))
    done = subprocess.run(
        command, cwd=module, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.thorough
def test_vet_has_nothing_against_the_example(control: str) -> None:
    tools("go")
    run(control, EXAMPLES / "go", "go", "vet", "./...")


@pytest.fixture(scope="module")
def go(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a Go module without a test yet."""
    tools("go")
    folder = tmp_path_factory.mktemp("go")
    for name in ("go.mod", "go.sum"):
        shutil.copy(EXAMPLES / "go" / name, folder)
    return folder


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with kafkajs installed."""
    tools("node", "npm")
    folder = tmp_path_factory.mktemp("node")
    assert KAFKAJS in (PROJECT / "docs" / "testing_cookbook.md").read_text()
    run("", folder, "npm", "install", "--no-audit", "--no-fund", KAFKAJS)
    return folder


def test_go_and_node_share_a_server(control: str, go: Path, node: Path) -> None:
    """At the same time, twice each: none of them sees the others' topics, groups and faults."""
    (go / "shared").mkdir()
    shared = recipe("shared_test.go")
    (go / "shared" / "shared_test.go").write_text(shared)
    (node / "shared.test.mjs").write_text(recipe("shared.test.mjs"))
    commands = [
        (go, *GO_TEST, "./shared"),
        (node, "node", "--test", "shared.test.mjs"),
    ] * 2
    with ThreadPoolExecutor() as pool:
        said = list(pool.map(lambda command: run(control, *command), commands))
    for (folder, *_), each in zip(commands, said, strict=True):
        if folder is go:
            assert passed_in_go(each) == declared_in_go(shared)
        else:
            assert "\n# pass 1\n" in each


@pytest.mark.thorough
def test_go_and_node_log_in(secured: str, go: Path, node: Path) -> None:
    (go / "secured").mkdir()
    secured_test = recipe("secured_test.go", SECURED_PAGE)
    (go / "secured" / "secured_test.go").write_text(secured_test)
    (node / "secured.test.mjs").write_text(recipe("secured.test.mjs", SECURED_PAGE))
    said = run("", go, *GO_TEST, "./secured", secured=secured)
    assert passed_in_go(said) == declared_in_go(secured_test)
    said = run("", node, "node", "--test", "secured.test.mjs", secured=secured)
    assert "\n# pass 1\n" in said
