"""Connection to a listener with SASL, or to a broker with an authorizer.

Before the client is authenticated, only the requests that `security.sasl.Login` expects are
accepted; the answer of a failed login is delayed, then the connection is closed (SASL-3). After
that, requests are handled as on any connection, once authorized. Connections without security
are plain `Connection`s.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

from coordinator.base.errors import ErrorCode
from coordinator.base.printable import shortened
from coordinator.events.wire import Authenticated, AuthenticationFailed
from coordinator.wire.framing import read_request_header
from coordinator.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from coordinator.wire.messages.join_group import JoinGroupRequest
from coordinator.wire.messages.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from coordinator.wire.messages.share_acknowledge import ShareAcknowledgeRequest
from coordinator.wire.messages.share_fetch import ShareFetchRequest
from coordinator.wire.primitives import WireError

from .. import apis
from ..interceptors import Answer
from ..requests.call import ANONYMOUS, NO_RESPONSE
from ..security.principals import MappingError, principal_of
from ..security.sasl import Failed, Login, Passed, Stage
from .connection import CloseConnection, Connection
from .exchange import or_error
from .strange_frames import strange_length

if TYPE_CHECKING:
    from collections.abc import Callable

    from coordinator.wire.schema import Message

    from ..authorization.asking import Asker
    from ..authorization.verdicts import Complete, Verdict
    from ..broker import Broker
    from ..requests.call import Call, Encoded, Result
    from ..security.listeners import ListenerSecurity
    from ..security.security import Security
    from . import wire_log

_SIZE = Struct(">i")
_KEY = Struct(">h")
_HANDSHAKE: Final = SaslHandshakeRequest.api_key
_AUTHENTICATE: Final = SaslAuthenticateRequest.api_key
_MATCHES_TOPICS: Final = (JoinGroupRequest.api_key, ConsumerGroupHeartbeatRequest.api_key)
"""Requests that may have a group's regular expressions matched (REF-7)."""
_NAMES_TOPICS_BY_ID: Final = (ShareFetchRequest.api_key, ShareAcknowledgeRequest.api_key)
"""Requests of which an authorizer judges all that they name, of super users too."""


class SecuredConnection(Connection):
    """One client's connection. `principal`: the authenticated principal, "" before."""

    __slots__ = (
        "_closes",
        "_complete",
        "_dies_of",
        "_security",
        "_settings",
        "_super",
        "login",
        "principal",
    )

    def __init__(
        self,
        broker: Broker,
        security: Security,
        settings: ListenerSecurity,
        *,
        peer: str,
        client_host: str,
        listener: str,
        write: Callable[[bytes], None],
        close: CloseConnection,
    ) -> None:
        super().__init__(
            broker,
            peer=peer,
            client_host=client_host,
            listener=listener,
            write=write,
            close=close,
        )
        self._security = security
        self._settings = settings
        self.login = Login(security, settings) if settings.protocol.has_sasl else None
        self.principal = "" if self.login is not None else ANONYMOUS
        self._super = settings.internal
        self._complete: Complete | None = None  # what refusals make of the answer
        self._closes = ""  # why it is closed once its request, which has no answer, is done
        self._dies_of = ""  # closed as soon as the refusal that is held back was sent

    @property
    def is_logged_in(self) -> bool:
        """True if the client has authenticated, or need not."""
        return self.login is None or self.login.stage is Stage.DONE

    # -- frames of a client that is not logged in

    def _handle_frames(self, data: bytes, now: int) -> None:
        login = self.login
        if login is None or self.is_logged_in:
            super()._handle_frames(data, now)
            return
        start, available = 0, len(data)
        self._needed = 4
        self._interrupted = False
        most = self._broker.configs.get_int("sasl.server.max.receive.size")
        while available - start >= 4:
            size: int = _SIZE.unpack_from(data, start)[0]
            if not 0 <= size <= most:
                self._refuse(_strange_length(size, data[start : start + 16], most), now)
                break
            end = start + 4 + size
            if end > available:
                self._needed = end - start
                break
            self._before_login(login, data[start + 4 : end], now)
            start = end
            if self._token is not None or self.closed or self._paused:
                self._needed = 4
                break
            if self.is_logged_in:
                self._flush()
                if start < available:
                    super()._handle_frames(data[start:], now)
                return
        if start < available and not self.closed:
            self._keep(data[start:] if start else data)
        self._flush()

    def _before_login(self, login: Login, frame: bytes, now: int) -> None:
        """Handle one frame of a client that has not authenticated (SASL-1, SASL-2, SASL-5)."""
        if login.stage is Stage.BARE_TOKENS:
            self._bare_token(login, frame, now)
            return
        try:
            key, version, _, self.client_id, _ = read_request_header(frame)
        except WireError as error:
            self._refuse(f"no request of SASL: {error}", now)
            return
        expected = _AUTHENTICATE if login.stage is Stage.TOKENS else _HANDSHAKE
        if login.stage is Stage.HANDSHAKE and key == apis.API_VERSIONS and not login.renewing:
            api = self._apis[key]
            known = api is not None and api.lowest <= version <= api.highest
            if known and login.asked_versions:
                self._refuse("a second ApiVersions before SaslHandshake", now)
                return
            login.asked_versions = login.asked_versions or known
        elif key != expected and login.stage is Stage.HANDSHAKE and not login.renewing:
            self._refuse(f"{apis.title(key)} before SaslHandshake", now)
            return
        self._handle_frame(frame, now)

    def _bare_token(self, login: Login, token: bytes, now: int) -> None:
        result = login.token(token, now)
        if isinstance(result, Passed):
            self._output.append(_SIZE.pack(len(result.data)) + result.data)
            self._note_success(login, now)
        else:
            self._fail(result, None, None, now)

    # -- requests

    def _handle_frame(self, frame: bytes, now: int) -> None:
        login = self.login
        if (
            login is not None
            and login.stage is Stage.DONE
            and login.is_over(now)
            and _KEY.unpack_from(frame)[0] != _HANDSHAKE
        ):  # REAUTH-1
            self._refuse("its session is over, and this request does not renew it", now)
            return
        super()._handle_frame(frame, now)

    def _ask(self, api: apis.Api, call: Call, correlation_id: int) -> None:
        login = self.login
        if login is None or login.stage is Stage.DONE:
            if login is not None and api.key == _HANDSHAKE and login.renews(call.now):
                self._handshake(login, api, call, correlation_id)
                return
            self._ask_if_allowed(api, call, correlation_id)
        elif api.key == _HANDSHAKE and login.stage is Stage.HANDSHAKE:
            self._handshake(login, api, call, correlation_id)
        elif api.key == _AUTHENTICATE and login.stage is Stage.TOKENS:
            self._authenticate(login, api, call, correlation_id)
        elif api.key == apis.API_VERSIONS and login.stage is Stage.HANDSHAKE:
            super()._ask(api, call, correlation_id)
        else:
            from .out_of_turn import answer

            response = answer(call.message, call.version)
            why = f"{apis.title(api.key)} while SaslAuthenticate is expected"
            if response is None:
                self._refuse(why, call.now)
            else:
                self._fail(Failed("", why), response, (api, call, correlation_id), call.now)

    def _ask_if_allowed(self, api: apis.Api, call: Call, correlation_id: int) -> None:
        """Call the handler with the part of the request that the authorizer allows."""
        authorizer = self._security.authorizer
        if authorizer is None or self._super or self.principal in authorizer.super_users:
            if authorizer is not None and api.key in _NAMES_TOPICS_BY_ID:
                call = call._replace(sees=lambda _: True)
            super()._ask(api, call, correlation_id)
            return
        from ..authorization.asking import Asker
        from ..authorization.deciding import decide

        host = self.peer.rpartition(":")[0]
        asker = Asker(authorizer, self.principal, host, self._broker, call)

        def decided(verdict: Verdict | Exception | None, now: int) -> None:
            asker.note(now)
            asked = call if now == call.now else call._replace(now=now)
            if isinstance(verdict, Exception):
                self._failed(api, asked, verdict, now)
            else:
                self._ask_as_decided(api, asked, correlation_id, asker, verdict)

        self._in_slices(or_error(decide(asker)), decided, call.now)

    def _ask_as_decided(
        self,
        api: apis.Api,
        call: Call,
        correlation_id: int,
        asker: Asker,
        verdict: Verdict | None,
    ) -> None:
        if api.key in _MATCHES_TOPICS:
            call = call._replace(sees=asker.sees)
        if verdict is None:
            super()._ask(api, call, correlation_id)
        elif verdict.answer is not None:
            self._handled(api, call, correlation_id, verdict.answer, call.now)
        elif verdict.message is not None:
            self._complete = verdict.complete
            self._closes = verdict.close
            sees = verdict.sees or call.sees
            call = call._replace(message=verdict.message, sees=sees)
            super()._ask(api, call, correlation_id)
        else:
            self._refuse(verdict.close, call.now)

    def _handled(
        self, api: apis.Api, call: Call, correlation_id: int, result: Result, now: int
    ) -> None:
        super()._handled(api, call, correlation_id, result, now)
        if result is NO_RESPONSE and self._closes:  # REF-2
            self._refuse(self._closes, now)

    def _respond(
        self,
        api: apis.Api,
        call: Call,
        correlation_id: int,
        response: Message | Encoded | None,
        now: int,
        body: bytes | Exception | None = None,
        errors: wire_log.Errors | None = None,
    ) -> None:
        if self._complete is None or body is not None:
            super()._respond(api, call, correlation_id, response, now, body, errors)
            return
        complete, self._complete = self._complete, None

        def completed(made: Message | Encoded | Exception, now: int) -> None:
            if isinstance(made, Exception):
                self._failed(api, call, made, now)
            else:
                self._respond(api, call, correlation_id, made, now)

        self._in_slices(or_error(complete(response)), completed, now)

    def _handshake(self, login: Login, api: apis.Api, call: Call, correlation_id: int) -> None:
        message = call.message
        assert isinstance(message, SaslHandshakeRequest)
        login.claimed = ""
        if login.handshake(message.mechanism, call.version):
            answer = SaslHandshakeResponse(mechanisms=list(login.mechanisms))
            self._respond(api, call, correlation_id, answer, call.now)
            return
        why = f"the mechanism {shortened(message.mechanism)!r} is none of {', '.join(login.mechanisms)}"
        if login.renewing:  # REAUTH-3
            self._refuse(why, call.now)
            return
        refused = SaslHandshakeResponse(
            error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=list(login.mechanisms)
        )
        self._fail(Failed("", why), refused, (api, call, correlation_id), call.now)

    def _authenticate(self, login: Login, api: apis.Api, call: Call, correlation_id: int) -> None:
        message = call.message
        assert isinstance(message, SaslAuthenticateRequest)
        result = login.token(message.auth_bytes, call.now)
        if isinstance(result, Passed):
            answer = SaslAuthenticateResponse(
                auth_bytes=result.data, session_lifetime_ms=result.lifetime_ms
            )
            self._note_success(login, call.now)
            self._respond(api, call, correlation_id, answer, call.now)
            return
        refused = SaslAuthenticateResponse(
            error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=result.text
        )
        response = None if result.text is None else refused
        self._fail(result, response, (api, call, correlation_id), call.now)

    def showed_certificate(self, name: str | None, now: int) -> None:
        """Set the principal from a client's TLS certificate, if there is no SASL login (TLS-2).
        `name`: the subject; None: the certificate has none.
        """
        if name is None:
            why = "the certificate names nobody, and its other names are not critical"
        elif self.login is not None:
            return
        else:
            why = f"no rule of ssl.principal.mapping.rules is about {name}"
            try:
                principal = principal_of(name, self._settings.mapping_rules)
            except MappingError as error:
                principal, why = None, f"ssl.principal.mapping.rules: {error}"
            if principal is not None:
                self.principal = principal
                self._note_login(principal, "TLS", now)
                return
        self._note_failure(None, "TLS", why, now)
        self._refuse(why, now)

    def is_known_as(self, principal: str, now: int) -> None:
        """Set the client's principal, for a driver without logins."""
        self.principal = principal
        self._note_login(principal, "NONE", now)

    def _note_login(self, principal: str, mechanism: str, now: int) -> None:
        self._note(
            Authenticated(principal, mechanism, self.listener, self.client_id, self.peer), now
        )

    def _note_failure(
        self, principal: str | None, mechanism: str | None, why: str, now: int
    ) -> None:
        at = (self.listener, self.client_id, self.peer)
        self._note(AuthenticationFailed(principal, mechanism, why, *at), now)

    def _note(self, event: Authenticated | AuthenticationFailed, now: int) -> None:
        log = self._broker.log
        if log is not None and log.writable:
            log.append(event, at_ms=now)

    def fail(self, why: str, now: int) -> None:
        """Close the connection because its bytes are not TLS."""
        self._refuse(why, now)

    # -- how a login ends

    def _note_success(self, login: Login, now: int) -> None:
        if login.stage is not Stage.DONE:
            return
        self.principal = login.principal
        self._note_login(login.principal, login.mechanism, now)

    def _fail(
        self,
        failed: Failed,
        response: Message | None,
        parked: tuple[apis.Api, Call, int] | None,
        now: int,
    ) -> None:
        """Send the failure of a login after connection.failed.authentication.delay.ms, and close
        (SASL-3).
        """
        login = self.login
        assert login is not None
        login.stage = Stage.FAILED
        claimed = f"User:{shortened(login.claimed)}" if login.claimed else None
        self._note_failure(claimed, login.mechanism or None, failed.why, now)
        delay = self._broker.configs.get_int("connection.failed.authentication.delay.ms")
        self._flush()
        if not failed.delayed or (not delay and response is None):
            self._refuse(failed.why, now)
            return
        self._dies_of = failed.why
        token = self._broker.next_token() if parked is None else parked[1].token
        self._token = token
        if parked is not None:
            self._park(*parked)
            if response is not None:
                self._then = Answer(response)
        self._broker.parked.hold(token, delay, self, now)

    def release(self, now: int) -> None:
        if not self._dies_of:
            super().release(now)
            return
        then, self._then = self._then, None
        api, call, correlation_id = self._api, self._call, self._correlation_id
        self._token = self._call = None
        if isinstance(then, Answer):
            assert api is not None and call is not None
            self._respond(api, call, correlation_id, then.response, now)
        self._refuse(self._dies_of, now)


def _strange_length(size: int, start: bytes, most: int) -> str:
    told = strange_length(size, start, most)
    if size > most and told.startswith("a frame"):
        return f"a frame of {size} bytes before its client is logged in: {most} are allowed (sasl.server.max.receive.size)"
    return told
