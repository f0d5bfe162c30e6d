"""The page's engine, played by this Python in place of WebAssembly.

A page that loads the engine compiles Python for eight seconds of processor time, and the simulator then
runs at a tenth of its speed. What comes out is the same: test_engine.py compares the answer to each
operation byte for byte. So in `make test` most tests of what the page does with answers take them from
here, and in `make fuzz` from WebAssembly, as a reader's browser does.

The worker's script alone is another one. It asks over two addresses that the site does not have, and
Playwright answers them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from playwright.sync_api import BrowserContext, Route

from coordinator.lab.page import engine

_WORKER: Final = """
const post = (to, body) => fetch(new URL(to, import.meta.url), { method: "POST", body });
let turn = Promise.resolve();
for (const done of [0, 1, 2, 3]) self.postMessage({ loading: { done, of: 4, text: "Fetching …" } });

async function answer({ id, asked, file }) {
  if (file) await post(`./engine-file?${JSON.parse(asked).path}`, await file.arrayBuffer());
  const answered = await (await post("./engine-asked", asked)).json();
  self.postMessage({ id, ...answered });
}

self.onmessage = ({ data }) => { turn = turn.then(() => answer(data)); };
"""


def played_here(context: BrowserContext, folder: Path) -> None:
    """Give the pages of a context this engine. A reader's files are kept in `folder`."""
    kept: dict[str, Path] = {}

    def worker(route: Route) -> None:
        for follower in engine._followed.values():
            follower.close()
        engine._followed.clear()
        engine._opened.clear()
        route.fulfill(body=_WORKER, content_type="text/javascript")

    def keep(route: Route) -> None:
        path = route.request.url.partition("?")[2]
        kept[path] = folder / path.strip("/").replace("/", "-")
        kept[path].write_bytes(route.request.post_data_buffer or b"")
        route.fulfill(status=204)

    def asked(route: Route) -> None:
        wanted = json.loads(route.request.post_data or "")
        if wanted.get("path") in kept:
            wanted["path"] = str(kept[wanted["path"]])
        try:
            answer = engine.request(json.dumps(wanted))
        except Exception as error:  # as worker.js does: the test sees what the page says
            said = f"The engine could not do this: {type(error).__name__}: {error}"
            answer = json.dumps({"error": said})
        route.fulfill(body=answer, content_type="application/json")

    context.route("**/worker.js", worker)
    context.route(re.compile(r"/engine-file\?"), keep)
    context.route("**/engine-asked", asked)
