"""Errors for clients whose request could not be written to __consumer_offsets (ERR-1, ERR-2)."""

from __future__ import annotations

from coordinator.base.errors import ErrorCode

_E = ErrorCode
#: How a failed write is told to clients (ERR-2); any other error is passed on unchanged.
_APPEND_ERRORS = {
    _E.UNKNOWN_TOPIC_OR_PARTITION: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_ENOUGH_REPLICAS: _E.COORDINATOR_NOT_AVAILABLE,
    _E.REQUEST_TIMED_OUT: _E.COORDINATOR_NOT_AVAILABLE,
    _E.NOT_LEADER_OR_FOLLOWER: _E.NOT_COORDINATOR,
    _E.KAFKA_STORAGE_ERROR: _E.NOT_COORDINATOR,
    _E.MESSAGE_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.RECORD_LIST_TOO_LARGE: _E.UNKNOWN_SERVER_ERROR,
    _E.INVALID_FETCH_SIZE: _E.UNKNOWN_SERVER_ERROR,
}


def client_append_error(error: ErrorCode) -> ErrorCode:
    """Return the error for clients when a write failed with `error` (ERR-2)."""
    return _APPEND_ERRORS.get(error, error)


def client_operation_error(error: ErrorCode) -> ErrorCode:
    """Return the error for clients when a whole operation failed with `error`: as ERR-2, but
    COORDINATOR_LOAD_IN_PROGRESS for NETWORK_EXCEPTION (ERR-1).
    """
    return (
        _E.COORDINATOR_LOAD_IN_PROGRESS
        if error is _E.NETWORK_EXCEPTION
        else client_append_error(error)
    )
