"""Errors named so that a person and the screen can act on them. Real ones: ``test_providers.py``."""

from __future__ import annotations

import pytest

from milk_tui.core.records import ErrorKind
from milk_tui.modelhost.failures import StreamProblem, explain
from milk_tui.modelhost.protocol import CompleteRequest, Failed
from milk_tui.modelhost.redact import Redactor

REQUEST = CompleteRequest(model="openai/x", messages=(), api_base="http://me:pw@host.example:8000/v1?key=abcdefgh")


def told(error: BaseException) -> Failed:
    return explain(error, REQUEST, 1, Redactor({"SOME_API_KEY": "s3cr3t-s3cr3t"}))


def caused(error: BaseException, *causes: BaseException) -> BaseException:
    inner = error
    for cause in causes:
        inner.__cause__ = cause
        inner = cause
    return error


def with_status(status: int, text: str = "", **more: object) -> BaseException:
    error = RuntimeError(text)
    error.status_code = status  # type: ignore[attr-defined]
    for name, value in more.items():
        setattr(error, name, value)
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (with_status(401), ErrorKind.AUTH),
        (with_status(402), ErrorKind.AUTH),
        (with_status(403), ErrorKind.AUTH),
        (with_status(404), ErrorKind.NOT_FOUND),
        (with_status(408), ErrorKind.TIMEOUT),
        (with_status(413), ErrorKind.CONTEXT_TOO_LONG),
        (with_status(422), ErrorKind.BAD_REQUEST),
        (with_status(429), ErrorKind.RATE_LIMIT),
        (with_status(500), ErrorKind.SERVER),
        (with_status(400, "prompt is too long: 210000 tokens > 200000 maximum"), ErrorKind.CONTEXT_TOO_LONG),
        (with_status(400, "the request exceeds the available context size"), ErrorKind.CONTEXT_TOO_LONG),
        (with_status(500, "model 'qwen' not found, try pulling it first"), ErrorKind.NOT_FOUND),
        (caused(with_status(500), with_status(529)), ErrorKind.SERVER),
        (caused(with_status(500), ConnectionRefusedError()), ErrorKind.UNREACHABLE),
        (caused(with_status(500), ConnectionResetError()), ErrorKind.CUT),
        (StreamProblem(ErrorKind.REFUSED, "no"), ErrorKind.REFUSED),
        (ValueError("what"), ErrorKind.INTERNAL),
    ],
)
def test_the_kind_is_found_under_what_the_library_made_of_it(error: BaseException, kind: ErrorKind) -> None:
    failed = told(error)
    assert failed.kind is kind
    assert failed.message.strip() and failed.hint.strip()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("litellm.AuthenticationError: AuthenticationError: OpenAIException - No such key.", "No such key."),
        (
            """litellm.BadRequestError: AnthropicException - b'{"error": {"message": "it\\'s bad"}}'""",
            "it's bad",
        ),
        ('litellm.X: {"error": {"message": "deep"}} tail', "deep"),
        ('{"detail": "flat"}', "flat"),
        ('{"error": "plain"}', "plain"),
        ('[{"error": {"message": "listed"}}]', "listed"),
        ("{not json", "{not json"),
    ],
)
def test_what_the_server_said_is_shown_without_its_wrapping(text: str, said: str) -> None:
    assert told(with_status(400, text)).message.endswith(f": {said}")


def test_a_message_is_one_clean_line_without_keys() -> None:
    failed = told(with_status(401, "bad\x1b[31m\nkey s3cr3t-s3cr3t and sk-abcdef123456 \u202e" + "x" * 5000))
    assert "\n" not in failed.message and "\x1b" not in failed.message and "\u202e" not in failed.message
    assert "s3cr3t" not in failed.message and "abcdef" not in failed.message
    assert len(failed.message) <= 400


def test_an_address_is_shown_without_user_and_query() -> None:
    failed = told(caused(with_status(500), ConnectionRefusedError()))
    assert "host.example:8000" in failed.message
    assert "pw" not in failed.message and "abcdefgh" not in failed.message


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        (
            {"retry-after": "Sun, 06 Nov 1994 08:49:47 GMT", "date": "Sun, 06 Nov 1994 08:49:37 GMT"},
            10.0,
        ),
        ({"retry-after": "soon"}, None),
        ({}, None),
    ],
)
def test_the_wait_comes_from_the_headers(headers: dict[str, str], wait: float | None) -> None:
    assert told(with_status(429, litellm_response_headers=headers)).retry_after_s == wait


def test_only_errors_that_pass_have_a_wait() -> None:
    assert told(with_status(401, litellm_response_headers={"retry-after": "7"})).retry_after_s is None


def test_causes_that_go_in_circles_end() -> None:
    one, other = RuntimeError("a"), RuntimeError("b")
    one.__cause__, other.__cause__ = other, one
    assert told(one).kind is ErrorKind.INTERNAL
