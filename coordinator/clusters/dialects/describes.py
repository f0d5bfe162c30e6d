"""Output of `kafka-consumer-groups --describe`, as pasted: read by the names in its header line, not
by the positions of its columns."""

from __future__ import annotations

import re

from ..facts import Described, Fact

NAME = "describe"
_WARNING = re.compile(
    r"(?:Warning: |Error: )?(?:Consumer|Share) group '(?P<group>[^']{1,300})' (?P<what>is "
    r"rebalancing|has no active members|does not exist)"
)
_COLUMNS = frozenset(
    (
        *("TOPIC", "PARTITION", "LEADER-EPOCH", "CURRENT-OFFSET", "LOG-END-OFFSET", "START-OFFSET"),
        *("LAG", "CONSUMER-ID", "HOST", "CLIENT-ID", "OWNER", "STATE", "#MEMBERS", "ASSIGNMENT"),
        *("ASSIGNMENT-STRATEGY", "COORDINATOR", "#PARTITIONS", "GROUP-INSTANCE-ID"),
    )
)
"""Words of a header line that a mail program has broken in two."""
_TELLING = frozenset(("TOPIC", "STATE", "#MEMBERS", "#PARTITIONS", "CONSUMER-ID"))
"""Columns of which a table must have one to say something about a group's state."""
_COMMAND = re.compile(r"--group[ =]['\"]?(?P<group>[^\s'\"]{1,300})")
_COMMAS = re.compile(r"\"?(?:GROUP\"? ?[,;]|TOPIC\"? ?[,;] ?\"?PARTITION)")
"""A header line of a table with commas, as spreadsheets and exports have it."""
_PROMPTS = ("$", "#", ">", "%")
_STATES = (
    "Stable",
    "PreparingRebalance",
    "CompletingRebalance",
    "Empty",
    "Dead",
    "Assigning",
    "Reconciling",
)


class Reader:
    """Collects the rows of one table; a table ends with an empty line or a line of another kind."""

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.rows: list[dict[str, str]] = []
        self.state: tuple[str, str] | None = None
        self.wrapped = False
        self.part: list[str] = []
        self.asked: str | None = None
        self.commas = False

    def read(self, text: str) -> tuple[bool, list[Fact]]:
        """Return whether a line belongs to a table, and the facts of the table that it ends, if
        it ends one."""
        warned = _WARNING.match(text)
        if warned:
            ended = self.end()
            states = {"is rebalancing": "rebalancing", "has no active members": "Empty"}
            self.state = (warned["group"], states.get(warned["what"], "Dead"))
            return True, ended
        commas = _COMMAS.match(text) is not None
        if commas or (self.commas and ("," in text or ";" in text)):
            text = _spaced(text)
        words = text.split()
        if "-consumer-groups" in text or "-share-groups" in text:
            asked = _COMMAND.search(text[:2_000])
            self.asked = asked["group"] if asked else None
        if (words[:1] == ["GROUP"] and len(words) >= 3) or words[:2] == ["TOPIC", "PARTITION"]:
            ended = self.end(keep_state=True)
            self.commas = commas
            self.columns = text.replace("COORDINATOR (ID)", "COORDINATOR").split()
            return True, ended
        if self.columns and not self.rows and words and all(word in _COLUMNS for word in words):
            self.columns += words
            self.wrapped = True
            return True, []
        if self.columns and words and self.wrapped:
            self.part += words
            if len(self.part) >= len(self.columns):
                self.rows.append(dict(zip(self.columns, self.part, strict=False)))
                self.part = []
            return True, []
        if self.columns and words:
            row = self._row(text)
            if row is not None:
                self.rows.append(row)
                return True, []
        if not words and (self.state or self.columns) and not self.rows:
            return False, []
        return False, self.end()

    def _row(self, text: str) -> dict[str, str] | None:
        text = re.sub(r"(\S) {1,20}\((\d{1,10})\)", r"\1(\2)", text, count=1)
        words = text.split()
        if words[0] in _PROMPTS or "kafka-consumer-groups" in text:
            return None
        if len(words) < min(len(self.columns), 4) or len(words) > len(self.columns) + 2:
            return None
        return dict(zip(self.columns, words, strict=False))

    def end(self, *, keep_state: bool = False) -> list[Fact]:
        """Return the facts of the table that was read so far, and begin a new one."""
        rows, state = self.rows, self.state
        if rows and "GROUP" not in rows[0]:
            # Releases before 1.1 print no such column.
            group = state[0] if state else self.asked
            rows = [{**row, "GROUP": group or ""} for row in rows]
        self.rows, self.columns = [], []
        self.wrapped, self.part, self.commas = False, [], False
        if not keep_state:
            self.state = None
        if not rows:
            return [] if keep_state or state is None else [Described(*state, None, (), None)]
        facts: list[Fact] = []
        if rows and not _TELLING & rows[0].keys():
            return []  # a list of groups and their types tells nothing of what they do
        for group in dict.fromkeys(row["GROUP"] for row in rows):
            of_group = [row for row in rows if row["GROUP"] == group]
            shown = next((row["STATE"] for row in of_group if row.get("STATE") in _STATES), None)
            if shown is None and state and state[0] == group:
                shown = state[1]
            owners = tuple(
                dict.fromkeys(_name(row) for row in of_group if row.get("CONSUMER-ID", "-") != "-")
            )
            partitions = [row for row in of_group if row.get("TOPIC", "") != "-"]
            lags = [row["LAG"] for row in partitions if row.get("LAG", "-").isdecimal()]
            members = next(
                (int(row["#MEMBERS"]) for row in of_group if row.get("#MEMBERS", "").isdecimal()),
                None,
            )
            lag = sum(map(int, lags)) if lags and len(lags) == len(partitions) else None
            counts = {
                _owner(row): int(row["#PARTITIONS"])
                for row in of_group
                if row.get("#PARTITIONS", "").isdecimal()
            }
            facts.append(
                Described(
                    group or None,
                    shown,
                    members,
                    owners,
                    lag,
                    _lags(partitions) if lag is not None else (),
                    tuple(owner for owner, count in counts.items() if not count),
                    max(counts.values(), default=None),
                )
            )
        return facts


def _spaced(text: str) -> str:
    """Return a row with commas or semicolons in the form that the tools print."""
    cells = re.split("[,;]", text.replace('"', ""))
    return " ".join(cell.strip().replace(" ", "") or "-" for cell in cells)


def _name(row: dict[str, str]) -> str:
    return row["CLIENT-ID"] if row.get("CLIENT-ID", "-") != "-" else row["CONSUMER-ID"]


def _owner(row: dict[str, str]) -> str:
    """Return the member id, because several members may have one client id."""
    return row.get("CONSUMER-ID", "-")


def _lags(rows: list[dict[str, str]]) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for row in rows:
        if row.get("CONSUMER-ID", "-") != "-":
            name = _name(row)
            found[name] = found.get(name, 0) + int(row["LAG"])
    return tuple(found.items())
