"""A pytest that a test runs on a suite of its own, in a process of its own.

Hypothesis's plugin is left out: such suites draw nothing, and to import it takes a second.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

PLAIN: Final = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")
"""Warnings are shown, and tests may be spread over workers."""

QUIET: Final = (*PLAIN, "-p", "no:xdist", "-W", "ignore")
"""One process, which shows no warnings."""

_BLOCK: Final = re.compile(r"^```python\n# (\w+)\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def files_in(page: str) -> dict[str, str]:
    """Return the Python blocks of a page that are files, by module: their first line names it."""
    blocks = _BLOCK.findall(page)
    files = dict(blocks)
    assert len(files) == len(blocks), "two blocks of one name"
    return files


def declared_in(files: Mapping[str, str]) -> set[str]:
    """Return the test functions that stand in modules, such as `test_orders.test_coffee`. Those
    that a class inherits do not stand there."""
    found = set()
    for module, text in files.items():
        for node in ast.parse(text).body if module.startswith("test_") else ():
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if node.name.startswith("test_"):
                    found.add(f"{module}.{node.name}")
            elif isinstance(node, ast.ClassDef):
                found |= {
                    f"{module}.{node.name}.{each.name}"
                    for each in node.body
                    if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
                    and each.name.startswith("test_")
                }
    return found


def passed_of(results: Path) -> set[str]:
    """Return the tests that ran and passed according to a JUnit file, named as by `declared_in`: a
    test with parameters is there if it passed with all of them."""
    ran: set[str] = set()
    others: set[str] = set()
    for case in ET.parse(results).getroot().iter("testcase"):
        name = f"{case.attrib['classname']}.{case.attrib['name'].partition('[')[0]}"
        (others if len(case.findall("./")) > len(case.findall("properties")) else ran).add(name)
    return ran - others


def passed(pytester: pytest.Pytester, *options: str, timeout_s: float) -> set[str]:
    """Run the suite that stands in pytester's folder; return the tests that ran and passed. None
    may fail."""
    results = pytester.path / "results.xml"
    done = pytester.runpytest_subprocess(*options, f"--junitxml={results}", timeout=timeout_s)
    assert done.ret == 0
    return passed_of(results)
