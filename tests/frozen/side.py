"""A script, not a module of the package: makes logs and their outputs by one checkout.

`against.py` runs it once for each of the two checkouts, with the checkout as working directory and as
the only entry of PYTHONPATH. It stands alone, since the other checkout may be older than this file: all
that it needs of a checkout is `tests.frozen.making.makers` and `tests.frozen.outputs`.

    python -P side.py --names                         print the names of the checkout's logs
    python -P side.py RECORDED DIRECTORY NAME ...     write DIRECTORY/NAME/OUTPUT, print each NAME

A log that RECORDED has as NAME.jsonl is read, any other one is made. An exception is written in the
place of the output that it prevented.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from tests.frozen.making import makers
from tests.frozen.outputs import OUTPUTS, Lines


def main(argv: list[str]) -> None:
    made = dict(makers())
    if argv == ["--names"]:
        print(*made, sep="\n")
    else:
        recorded, directory, names = Path(argv[0]), Path(argv[1]), argv[2:]
        for name in names:
            stored = recorded / f"{name}.jsonl"
            make = stored.read_text if stored.exists() else made[name]
            _write_outputs(directory / name, make)
            print(name, flush=True)
    _check_imports(Path.cwd())


def _write_outputs(directory: Path, make: Callable[[], str]) -> None:
    directory.mkdir(parents=True)

    def write(output: str, make: Callable[[], str]) -> str | None:
        try:
            text = make()
        except Exception:
            (directory / f"{output}.failed").write_text(traceback.format_exc())
            return None
        (directory / output).write_text(text)
        return text

    text = write("log", make)
    if text is not None:
        try:
            log = Lines(text)
        except Exception:
            (directory / "reading.failed").write_text(traceback.format_exc())
            return
        for output, make_output in OUTPUTS.items():
            write(output, lambda make_output=make_output: make_output(log))  # type: ignore[misc]


def _check_imports(checkout: Path) -> None:
    """Fail if a module of the product or of its tests came from elsewhere than the checkout."""
    for name, module in sys.modules.items():
        file = getattr(module, "__file__", None)
        if name.split(".")[0] in ("coordinator", "assignors", "tests") and file is not None:
            found = Path(file).resolve()
            assert found.is_relative_to(checkout), f"{name} is {found}, not below {checkout}"
    assert "coordinator" in sys.modules


if __name__ == "__main__":
    main(sys.argv[1:])
