"""Definitions of configurations: type, default, allowed values; parsing and validation as in
Kafka's ConfigDef, with Kafka's messages, and the text of a value that DescribeConfigs shows.

Tables are plain text, one line a name, parsed at first use. Does not know where values come from
or what they do.
"""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from coordinator.base.releases import Settings

ConfigValue: TypeAlias = bool | int | float | str | list[str] | None

_WHOLE = re.compile(r"[+-]?[\d]+\Z")
_FRACTION = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?Infinity|[+-]?NaN)[dDfF]?\Z"
)
_HEXADECIMAL = re.compile(
    r"([+-]?0[xX](?:[0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+)[dDfF]?\Z"
)
_MOST_DIGITS = 19  # of 63 bits
_BLANKS = "".join(map(chr, range(0x21)))
_SPACE = " \t\n\x0b\f\r"
_THROTTLED = re.compile(r"([0-9]+:[0-9]+)?\Z")
THROTTLED_FORM = "[partitionId]:[brokerId],[partitionId]:[brokerId],..."


class ConfigType(IntEnum):
    """Types as DescribeConfigs v3+ numbers them."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ResourceType(IntEnum):
    """Types of configuration resources, as the protocol numbers them."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class ConfigSource(IntEnum):
    """Sources of a value, as DescribeConfigs numbers them."""

    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


_BITS = {ConfigType.SHORT: 15, ConfigType.INT: 31, ConfigType.LONG: 63}


class ConfigException(Exception):
    """Error for a value that Kafka refuses; `str()` is Kafka's message."""

    @classmethod
    def invalid(cls, name: str, value: object, why: str) -> ConfigException:
        """Return the error in Kafka's form: Invalid value V for configuration N: why."""
        return cls(f"Invalid value {value} for configuration {name}: {why}")


class ConfigDef(NamedTuple):
    """Definition of one configuration. `allowed`: the validator in the table's notation (see
    `read_table`); `update`: when Kafka lets it change: "-" only at start, "broker" per broker,
    "cluster" per broker or for all brokers.
    """

    name: str
    type: ConfigType
    default: str | None
    allowed: str
    update: str = "-"

    @property
    def sensitive(self) -> bool:
        """True for passwords, which are never shown."""
        return self.type is ConfigType.PASSWORD

    def parse(self, text: str | None) -> ConfigValue:
        """Return the typed value of `text`. Raises ConfigException with Kafka's message if it is
        invalid.
        """
        value = _parse(self, text)
        _check(self, value)
        return value


def read_table(table: str) -> dict[str, ConfigDef]:
    """Parse a table: `name type default allowed update`, one line a configuration.

    default: `null`, `''` for an empty string, else the text. allowed: `-` anything, `1..` or
    `0..5` a range, `a|b` one of these, `~a|b` one of these in any case, `nonempty`, `[a|b]` a
    list of these (`[]` of anything, `[a|b]!` not empty, `[]?` null allowed, `[a|b]*` repetitions
    allowed: CFG-42-1), `gzip` and `throttled` for two special formats.
    """
    defs: dict[str, ConfigDef] = {}
    for line in table.split("\n"):
        if line:
            name, kind, default, allowed, update = line.split()
            text = None if default == "null" else "" if default == "''" else default
            defs[name] = ConfigDef(name, ConfigType[kind.upper()], text, allowed, update)
    return defs


def released(table: dict[str, ConfigDef], settings: Settings) -> dict[str, ConfigDef]:
    """Return the newest release's table changed to another release's settings."""
    if not settings.without and not settings.different:
        return table
    defs = {name: of for name, of in table.items() if name not in settings.without}
    return defs | {name: of for name, of in read_table(settings.different).items() if name in defs}


def show(value: ConfigValue) -> str | None:
    """Return the text that Kafka shows for a typed value."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return _java_double(value)
    if isinstance(value, list):
        return ",".join(value)
    return str(value)


def trim(text: str) -> str:
    """Strip characters up to the blank from both ends, as Java's String.trim does."""
    return text.strip(_BLANKS)


def parse_whole(text: str, bits: int = 31) -> int | None:
    """Return the number as Java's Integer.parseInt (31 bits) or Long.parseLong (63) parses it, in
    decimal digits of any script, or None. Linear in the length.
    """
    if not _WHOLE.match(text) or (not text.isascii() and max(text) > "\uffff"):
        return None  # Java looks at halves of what is beyond
    digits = text.lstrip("+-")
    if not digits.isascii():
        digits = "".join(str(int(digit)) for digit in digits)
    digits = digits.lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return None
    value = int(digits or "0") * (-1 if text[0] == "-" else 1)
    return value if -(1 << bits) <= value < 1 << bits else None


def _parse_double(text: str) -> float | None:
    """Return the number as Java's Double.parseDouble parses it, or None."""
    found = _FRACTION.match(text)
    if found:
        return float(found.group(1))
    found = _HEXADECIMAL.match(text)
    if not found:
        return None
    try:
        return float.fromhex(found.group(1))
    except OverflowError:
        return float("-inf" if text[0] == "-" else "inf")


def _parse(of: ConfigDef, text: str | None) -> ConfigValue:
    if text is None:
        return None
    trimmed = trim(text)
    match of.type:
        case ConfigType.BOOLEAN:
            if trimmed.upper() not in ("TRUE", "FALSE"):
                raise ConfigException.invalid(
                    of.name, text, "Expected value to be either true or false"
                )
            return trimmed.upper() == "TRUE"
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            whole = parse_whole(trimmed, _BITS[of.type])
            if whole is None:
                raise ConfigException.invalid(of.name, text, f"Not a number of type {of.type.name}")
            return whole
        case ConfigType.DOUBLE:
            number = _parse_double(trimmed)
            if number is None:
                raise ConfigException.invalid(of.name, text, "Not a number of type DOUBLE")
            return number
        case ConfigType.LIST:
            items = [item.strip(_SPACE) for item in trimmed.split(",")] if trimmed else []
            return (
                list(dict.fromkeys(items))
                if of.allowed.startswith("[") and not of.allowed.endswith("*")
                else items
            )  # doubles are dropped, not refused
        case _:
            return trimmed


def _check(of: ConfigDef, value: ConfigValue) -> None:
    allowed = of.allowed
    if allowed == "-":
        return
    if allowed.startswith("["):
        _check_list(of, value)
    elif allowed == "gzip":
        if isinstance(value, int) and value != -1 and not 1 <= value <= 9:
            raise ConfigException.invalid(
                of.name, value, "Value must be between 1 and 9 or equal to -1"
            )
    elif allowed == "throttled":
        _check_throttled(of, value)
    elif ".." in allowed:
        _check_range(of, value)
    elif isinstance(value, str):
        _check_text(of, value)


def _check_range(of: ConfigDef, value: ConfigValue) -> None:
    low, _, high = of.allowed.partition("..")
    if value is None:
        raise ConfigException.invalid(of.name, "null", "Value must be non-null")
    assert isinstance(value, int | float)
    if low and value < float(low):
        raise ConfigException.invalid(of.name, show(value), f"Value must be at least {low}")
    if high and value > float(high):
        raise ConfigException.invalid(of.name, show(value), f"Value must be no more than {high}")


def _check_text(of: ConfigDef, value: str) -> None:
    if of.allowed == "nonempty":
        if not value:
            raise ConfigException.invalid(of.name, value, "String must be non-empty")
        return
    any_case = of.allowed.startswith("~")
    choices = of.allowed.removeprefix("~").split("|")
    if any_case and value.upper() not in choices:
        raise ConfigException.invalid(
            of.name, value, f"String must be one of (case insensitive): {', '.join(choices)}"
        )
    if not any_case and value not in choices:
        raise ConfigException.invalid(
            of.name, value, f"String must be one of: {', '.join(choices)}"
        )


def _check_list(of: ConfigDef, value: ConfigValue) -> None:
    inner, _, marks = of.allowed[1:].partition("]")
    choices = inner.split("|") if inner else []
    if value is None:
        if "?" not in marks:
            raise ConfigException(f"Configuration '{of.name}' values must not be null.")
        return
    assert isinstance(value, list)
    if "*" in marks:
        for item in value:
            _check_choice(of, item, choices)
        return
    if not value and "!" in marks:
        valid = f"[{', '.join(choices)}]" if choices else "any non-empty value"
        raise ConfigException(
            f"Configuration '{of.name}' must not be empty. Valid values include: {valid}"
        )
    for item in value:
        if not item:
            raise ConfigException(f"Configuration '{of.name}' values must not be empty.")
        _check_choice(of, item, choices)


def _check_choice(of: ConfigDef, item: str, choices: list[str]) -> None:
    if choices and item not in choices:
        raise ConfigException.invalid(of.name, item, f"String must be one of: {', '.join(choices)}")


def _check_throttled(of: ConfigDef, value: ConfigValue) -> None:
    assert isinstance(value, list)
    if value != ["*"] and not all(_THROTTLED.match(item) for item in value):
        why = f"{of.name} must be the literal '*' or a list of replicas in the following format: {THROTTLED_FORM}"
        raise ConfigException.invalid(of.name, f"[{', '.join(value)}]", why)


def _java_double(value: float) -> str:
    """Format a float like Java's Double.toString: plain from 0.001 to 10 million, else with an
    exponent.
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    from decimal import Decimal

    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{exponent + len(digits) - 1}"
