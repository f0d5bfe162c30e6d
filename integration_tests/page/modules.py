"""The page's JavaScript modules run in Node: for what needs no browser."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from tools.page_site.__main__ import ROOT

ASSETS = ROOT / "coordinator" / "lab" / "page" / "assets"


def run(module: str, body: str, given: object = None) -> Any:
    """What the body of an async function returns, given `m`, the module's exports, and `given`.
    Raises AssertionError with its error."""
    script = f"""
const m = await import({json.dumps((ASSETS / module).as_uri())}), given = {json.dumps(given)};
process.stdout.write(JSON.stringify(await (async () => {{ {body} }})()));"""
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
