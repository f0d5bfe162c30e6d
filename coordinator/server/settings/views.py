"""Configurations as DescribeConfigs returns them: entries with sources and synonyms, as Kafka lists
them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from itertools import dropwhile
from typing import NamedTuple

from .broker_configs import (
    BROKER_SYNONYMS,
    OF_LISTENERS,
    BrokerConfigs,
    broker_defs,
    run_time_defs,
)
from .client_metrics import client_metrics_defs
from .definitions import ConfigDef, ConfigException, ConfigSource, ConfigType, show
from .group_configs import broker_synonym, default_text, group_defs, settable_defs
from .topic_configs import SYNONYMS, effective_value, settable_topic_defs, shown


class Synonym(NamedTuple):
    """A configuration that could supply the value, in order of precedence; the first one does."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """One configuration as a client sees it. Sensitive values are None."""

    name: str
    value: str | None
    read_only: bool
    source: ConfigSource
    sensitive: bool
    type: ConfigType
    synonyms: list[Synonym]


_OF_MECHANISMS = (
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
    "connections.max.reauth.ms",
)
"""Settings of listeners that may have a mechanism's name in front."""


class _All:
    def __contains__(self, name: object) -> bool:
        return True


ALL: Container[str] = _All()


def broker_entries(configs: BrokerConfigs, names: Container[str] = ALL) -> list[ConfigEntry]:
    """Return the entries in force on a broker, by name, including unknown names that clients set at
    run time.
    """
    known = {name for values, _ in configs.layers() for name in values} | set(
        broker_defs(configs.release)
    )
    known.update(configs.security)
    return [
        _security_entry(configs, name)
        if name in configs.security
        else _broker_entry(configs, name, configs.layers())
        for name in sorted(known)
        if name in names
    ]


def _security_entry(configs: BrokerConfigs, name: str) -> ConfigEntry:
    """Return the entry of a security setting. One of a single listener is shown with the setting of
    all listeners as its fallback; unknown ones are hidden.
    """
    text, given = configs.security[name], ConfigSource.STATIC_BROKER
    base = _of_all_listeners(name)
    of = run_time_defs(configs.release).get(base)
    if of is None or not name.startswith(OF_LISTENERS):
        own = Synonym(name, None, given)
        return ConfigEntry(name, None, True, given, True, ConfigType.UNKNOWN, [own])
    value = None if of.sensitive else _shown(of, text)
    synonyms = [
        Synonym(name, None if of.sensitive else text, given),
        *_synonyms(configs, base, configs.layers()),
    ]
    return ConfigEntry(name, value, True, given, of.sensitive, of.type, synonyms)


def _shown(of: ConfigDef, text: str) -> str | None:
    try:
        return show(of.parse(text))
    except ConfigException:
        return text


def _of_all_listeners(name: str) -> str:
    """Return SETTING from `listener.name.NAME.SETTING` or `listener.name.NAME.MECHANISM.SETTING`."""
    rest = name.removeprefix(OF_LISTENERS).partition(".")[2]
    return next((each for each in _OF_MECHANISMS if rest.endswith(each)), rest)


def broker_default_entries(
    configs: BrokerConfigs, names: Container[str] = ALL
) -> list[ConfigEntry]:
    """Return the dynamic defaults of all brokers, by name."""
    layer = (configs.dynamic_default, ConfigSource.DYNAMIC_DEFAULT_BROKER)
    return [
        _broker_entry(configs, name, (layer,), defaults=False)
        for name in sorted(configs.dynamic_default)
        if name in names
    ]


def topic_entries(
    own: Mapping[str, str], configs: BrokerConfigs, names: Container[str] = ALL
) -> list[ConfigEntry]:
    """Return the entries in force for a topic with these own values, by name."""
    entries = []
    defs = settable_topic_defs(configs.release)
    for name in shown(own, configs.release):
        if name not in names:
            continue
        of = defs[name]
        value = show(effective_value(name, own, configs))
        synonyms = [Synonym(name, value, ConfigSource.TOPIC)] if name in own else []
        if name in SYNONYMS:
            synonyms += _synonyms(configs, SYNONYMS[name][0][0], configs.layers())
        source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
        entries.append(ConfigEntry(name, value, False, source, of.sensitive, of.type, synonyms))
    return entries


def group_entries(
    own: Mapping[str, str], configs: BrokerConfigs, names: Container[str] = ALL
) -> list[ConfigEntry]:
    """Return the entries in force for a group with these own values, by name."""
    entries = []
    shown, named_by_broker = group_defs(configs.release), configs.release.has("CFG-43-1")
    for name, of in sorted(settable_defs(configs.release).items()):
        behind = broker_synonym(name)
        is_given = name in own or any(behind in values for values, _ in configs.layers())
        if name not in names or (name not in shown and not is_given):
            continue
        value = of.parse(own[name] if name in own else default_text(name, configs))
        synonyms = [Synonym(name, show(value), ConfigSource.GROUP)] if name in own else []
        if not named_by_broker:
            synonyms = synonyms or [
                Synonym(name, default_text(name, configs), ConfigSource.DEFAULT)
            ]
        elif behind is None:
            synonyms.append(Synonym(name, of.default, ConfigSource.DEFAULT))
        else:
            synonyms += _synonyms(configs, behind, configs.layers())
        source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
        entries.append(
            ConfigEntry(name, show(value), False, source, of.sensitive, of.type, synonyms)
        )
    return entries


def client_metrics_entries(
    own: Mapping[str, str], names: Container[str] = ALL
) -> list[ConfigEntry]:
    """Return the entries of a client metrics subscription, by name."""
    entries = []
    for name, of in sorted(client_metrics_defs().items()):
        if name in names:
            value = show(of.parse(own.get(name, of.default)))
            synonyms = [Synonym(name, value, ConfigSource.CLIENT_METRICS)] if name in own else []
            source = ConfigSource.CLIENT_METRICS if name in own else ConfigSource.DEFAULT
            entries.append(ConfigEntry(name, value, False, source, False, of.type, synonyms))
    return entries


_Layers = tuple[tuple[dict[str, str], ConfigSource], ...]


def _broker_entry(
    configs: BrokerConfigs, name: str, layers: _Layers, *, defaults: bool = True
) -> ConfigEntry:
    of = run_time_defs(configs.release).get(name)
    if of is None:  # a name Kafka does not know could be a plug-in's, and secret: it is never shown
        hidden = [Synonym(name, None, source) for values, source in layers if name in values]
        return ConfigEntry(name, None, True, hidden[0].source, True, ConfigType.UNKNOWN, hidden)
    synonyms = _synonyms(configs, name, layers, defaults=defaults)
    source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
    value = None if of.sensitive else show(configs.get(name)) if defaults else layers[0][0][name]
    return ConfigEntry(name, value, of.update == "-", source, of.sensitive, of.type, synonyms)


def _synonyms(
    configs: BrokerConfigs, name: str, layers: _Layers, *, defaults: bool = True
) -> list[Synonym]:
    """Return all configurations that supply a value to a broker configuration, beginning with the
    first of its own name.
    """
    found = dropwhile(
        lambda synonym: synonym.name != name,
        _places(configs, BROKER_SYNONYMS.get(name, (name,)), layers, defaults),
    )
    return (
        [synonym._replace(value=None) for synonym in found]
        if configs.definition(name).sensitive
        else list(found)
    )


def _places(
    configs: BrokerConfigs, names: tuple[str, ...], layers: _Layers, defaults: bool
) -> Iterator[Synonym]:
    for values, source in layers:
        yield from (Synonym(name, values[name], source) for name in names if name in values)
    if defaults:
        for name in names:
            default = configs.definition(name).default
            if default is not None:
                yield Synonym(name, default, ConfigSource.DEFAULT)
