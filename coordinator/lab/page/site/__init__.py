"""The static site of lessons, as far as an installed package can write it: pages, recorded runs, and
the scripts that show them.

`own` writes a site of a reader's own lessons. What needs Node (pictures without scripts, Python as
WebAssembly) is added by `tools/page_site` in a checkout. Begin with `pages`.
"""

from __future__ import annotations
