"""What the log says of a request that was refused, and of one that failed."""

from __future__ import annotations

import logging

import pytest
from django.core.exceptions import PermissionDenied
from django.test import RequestFactory
from django.utils.log import log_response


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.WARNING, "django.request")

    def log(error: Exception, status: int) -> logging.LogRecord:
        class Response:
            status_code = status

        try:
            raise error
        except type(error) as caught:
            log_response(
                "It went wrong: %s", "/", response=Response(), request=RequestFactory().get("/"), exception=caught
            )
        return caplog.records[-1]  # after the site's own console has had it

    return log


def test_a_refusal_is_one_line(logged):
    assert not logged(PermissionDenied("Not yours."), 403).exc_info


def test_a_failure_keeps_its_trace(logged):
    assert logged(ValueError("A mistake."), 500).exc_info
