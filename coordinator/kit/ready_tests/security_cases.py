"""Ready tests for consumer applications that log in: what happens to each of them sooner or later,
and what must not happen to its records then.

    @pytest.fixture
    def kafka_app_under_test(kafka_emulator):
        return Billing(**kafka_emulator.client_config("kafka-python", user="billing"))

    @pytest.mark.kafka(
        security="SASL_SSL",
        users={"billing": "secret"},
        acls=["User:billing may Read topic orders", "User:billing may Read group billing"],
    )
    class TestBilling(SecurityCases):
        user = "billing"

While it is refused an application may go on trying, or end; one that has ended with an error says so
by an attribute `error`, and is started again, as what runs it would. Either way it then does all its
work, each record once: the verdict is that of `cases`.
"""

from __future__ import annotations

from typing import ClassVar

import pytest

from coordinator.events.wire import AuthenticationFailed, AuthorizationRefused

from ..in_process_requests import ControlError
from .application_cases import ApplicationCases
from .record_cases import RECORDS
from .under_test import ApplicationUnderTest

_SHORT = 10
"""Number of records that are written while nobody may read them."""
_ASKS_AGAIN = 3
"""Number of refusals after which a client certainly knows that it is refused."""


def _ended(app: ApplicationUnderTest) -> bool:
    return isinstance(getattr(app.application, "error", None), BaseException)


class SecurityCases(ApplicationCases):
    """Ready tests for an application that logs in. Derive a test class from this one, define a
    fixture `kafka_app_under_test`, and set a marker `kafka` with `security`.

    `user`: the user that the application logs in as. A case that needs users, ACLs or TLS which
    the emulator does not have is skipped.
    """

    user: ClassVar[str] = "billing"

    def test_its_password_changes(self, app: ApplicationUnderTest) -> None:
        """The application's password is changed and its connections are closed; then its own
        password is valid again."""
        self._settled(app)
        try:
            changed = app.kafka.rotate_password(self.user, "another password than before")
        except ControlError as error:
            pytest.skip(str(error))
        with changed:
            mark = app.kafka.mark()
            app.kafka.drop_connections()
            self._wait_told(app, AuthenticationFailed, mark)
            app.produce(_SHORT)
        self._goes_on(app)

    def test_a_right_is_taken_away_and_given_back(self, app: ApplicationUnderTest) -> None:
        """The application loses its right to its group, so its commits are refused; then it gets
        the right back."""
        self._settled(app)
        try:
            rights = app.kafka.acls()
        except ControlError as error:
            pytest.skip(str(error))
        mine = [
            right
            for right in rights
            if right.startswith(f"User:{self.user} may ") and " group " in right
        ]
        if not mine:
            pytest.skip(f"no ACL gives User:{self.user} a right to a group: there are {rights}")
        mark = app.kafka.mark()
        with app.fails_by_itself():
            with app.kafka.revoke(*mine):
                app.produce(_SHORT)
                self._wait_told(app, AuthorizationRefused, mark)
            self._goes_on(app)

    def test_its_servers_certificate_is_renewed(self, app: ApplicationUnderTest) -> None:
        """The server's certificate expires; then the server shows a valid one of the same
        authority."""
        self._settled(app)
        try:
            expired = app.kafka.expire_certificate()
        except ControlError as error:
            pytest.skip(str(error))
        with expired:
            app.kafka.drop_connections()
            app.wait_until(
                lambda: not any(member.connected for member in app.members()),
                "the application is still connected",
            )
            app.produce(_SHORT)
        self._goes_on(app)

    def _settled(self, app: ApplicationUnderTest) -> None:
        """Start the application and let it process everything, so that nothing is at stake when
        the disturbance begins."""
        app.start()
        app.produce(RECORDS)
        app.wait_done()
        app.disturbances += 1

    def _wait_told(self, app: ApplicationUnderTest, kind: type, since: int) -> None:
        """Wait until the application was refused and knows it: it has ended with an error, or
        was refused several times."""

        def told() -> bool:
            refused = app.kafka.events(kind.__name__, since=since, principal=f"User:{self.user}")
            return bool(refused) and (_ended(app) or len(refused) >= _ASKS_AGAIN)

        app.wait_until(
            told,
            "the application should have been refused, but it neither ended with an error (its attribute `error`) nor asked again",
        )

    def _goes_on(self, app: ApplicationUnderTest) -> None:
        """Wait until the application works again after the cause of the refusals is gone; if it
        ended, start it again. Its former member could not leave while it was refused, so its
        session is ended instead of waiting 45 s for it to expire."""

        def goes_on() -> bool:
            app.expire_members_that_could_not_leave()
            return app.is_done() or _ended(app)

        app.wait_until(
            goes_on,
            "the application neither continued after it was refused nor ended with an error (its attribute `error`)",
        )
        if _ended(app):
            app.start_again()
        app.produce(RECORDS)
        app.wait_done()
        app.verify()
