"""Two other codecs, written by others from Kafka's schemas, read what ours writes and write it
again, byte for byte."""

from __future__ import annotations

import importlib
import io
import warnings
from functools import cache
from random import Random
from typing import Any

import pytest
from kio.index import load_request_schema, load_response_schema
from kio.schema.index import api_key_map, schema_name_map
from kio.serial import entity_reader, entity_writer

from coordinator.wire.messages import request_type
from coordinator.wire.messages.api_versions import ApiVersionsResponse
from coordinator.wire.schema import Message, Request
from tests.wire.samples import SERVED, all_versions, message_types, tame

ROUNDS = 6


@cache
def kafka_python_types() -> dict[tuple[int, bool], Any]:
    """kafka-python's classes by key and "is it a request"."""
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # it reads its schemas in a way that Python is giving up
        from kafka.protocol.api_message import ApiMessage

        for module in ("admin", "consumer", "metadata", "producer", "sasl"):
            importlib.import_module(f"kafka.protocol.{module}")
    found: dict[tuple[int, bool], Any] = {}
    for cls in ApiMessage.__subclasses__():
        if cls._class_version is None:
            found[cls.API_KEY, cls.is_request()] = cls
    return found


def types_of(codec: str) -> list[Any]:
    """Our classes for which the codec has one, each with the versions it knows."""
    found = []
    for message in message_types():
        if codec == "kio":
            known = schema_name_map.get(api_key_map.get(message.api_key), {})
            versions = [version for version in all_versions(message) if version in known]
        else:
            theirs = kafka_python_types().get((message.api_key, issubclass(message, Request)))
            versions = [
                version
                for version in all_versions(message)
                if theirs and version <= theirs.max_version
            ]
        if versions:
            found.append(pytest.param(message, versions, id=message.__name__))
    return found


def through_kafka_python(message: type[Message], version: int, body: bytes) -> bytes:
    theirs = kafka_python_types()[message.api_key, issubclass(message, Request)]
    decoded = theirs.decode(body, version=version)
    # A decoded message lacks what its constructor sets.
    decoded._header = decoded._min_version = decoded._max_version = None
    encoded = decoded.encode(version=version)
    return bytes(encoded)


def through_kio(message: type[Message], version: int, body: bytes) -> bytes:
    load: Any = load_request_schema if issubclass(message, Request) else load_response_schema
    schema: Any = load(message.api_key, version)
    entity, size = entity_reader(schema)(body, 0)
    assert size == len(body)
    buffer = io.BytesIO()
    entity_writer(schema)(buffer, entity)
    return buffer.getvalue()


@pytest.mark.parametrize(("message", "versions"), types_of("kafka-python"))
def test_kafka_python_writes_the_same_bytes(message: type[Message], versions: list[int]) -> None:
    random = Random(message.__name__)
    for version in versions:
        for _ in range(ROUNDS):
            ours = tame(message, version, random)
            if message is ApiVersionsResponse:
                ours.error_code = 0  # kafka-python reads an error as version 0
            body = ours.encode(version)
            assert through_kafka_python(message, version, body) == body, f"version {version}"


@pytest.mark.parametrize(("message", "versions"), types_of("kio"))
def test_kio_writes_the_same_bytes(message: type[Message], versions: list[int]) -> None:
    random = Random(message.__name__)
    for version in versions:
        for _ in range(ROUNDS):
            body = tame(message, version, random).encode(version)
            assert through_kio(message, version, body) == body, f"version {version}"


def test_the_codecs_know_what_we_serve() -> None:
    """Otherwise the tests above would prove less than they seem to."""
    kafka_python = {parameters.values[0] for parameters in types_of("kafka-python")}
    kio = {parameters.values[0] for parameters in types_of("kio")}
    for key in SERVED:
        assert request_type(key) in kafka_python
        assert request_type(key) in kio
