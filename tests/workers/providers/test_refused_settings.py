"""Refusals as servers word them (refusals.json), and the setting of ours that each is about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workers.providers.errors import BackendError, Overloaded, RefusedSetting, Rejected
from workers.providers.statuses import of_error_in_answer, of_status

CASES = json.loads((Path(__file__).parent / "refusals.json").read_text(encoding="utf-8"))


def refusal(status: int, body: object) -> BackendError:
    text = body if isinstance(body, str) else json.dumps(body)
    return of_status(status, None if isinstance(body, str) else body, text, {})


@pytest.mark.parametrize("case", CASES["settings"], ids=range(len(CASES["settings"])))
def test_a_refused_setting_is_named_with_its_cure(case):
    error = refusal(case["status"], case["body"])
    assert isinstance(error, RefusedSetting), error
    assert error.kind == case["kind"] and case["cure"] in error.advice
    assert len(error.kind) <= 20  # as a row of attempts holds it


@pytest.mark.parametrize("case", CASES["questions"], ids=range(len(CASES["questions"])))
def test_a_refusal_of_one_question_names_no_setting(case):
    error = refusal(case["status"], case["body"])
    assert isinstance(error, Rejected) and not isinstance(error, RefusedSetting), (error.kind, error.advice)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_failure_names_no_setting(status):
    error = refusal(status, {"error": {"message": "The service is unavailable; max_tokens and temperature failed."}})
    assert not isinstance(error, RefusedSetting)
    assert isinstance(refusal(500, {"error": {"message": "Internal error."}}), Overloaded)


def test_a_refusal_with_status_200_names_its_setting():
    body = {"error": {"code": 400, "message": "Unsupported parameter: 'temperature' is not supported with this model."}}
    assert of_error_in_answer(body).kind == "refused temperature"
