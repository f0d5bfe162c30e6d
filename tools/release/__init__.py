"""What a release is made of: `python -m tools.release write | check | build`.

`fields` reads release.toml; `lines` keeps the install lines and marked regions of files that people
write; `whole` makes files that nobody writes by hand; `building` makes and checks what is
published.
"""

from __future__ import annotations
