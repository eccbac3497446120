"""Keys never get out."""

from __future__ import annotations

import pytest

from milk_tui.modelhost.redact import Redactor

redact = Redactor(
    {"MY_API_KEY": "abcd-efgh-ijkl", "GITHUB_TOKEN": "t0k3n-t0k3n", "KEYBOARD": "qwerty-layout", "AKEY": "x"}
)


@pytest.mark.parametrize(
    "secret",
    [
        "abcd-efgh-ijkl",
        "t0k3n-t0k3n",
        "sk-proj-1234567890abcdef",
        "sk-ant-api03-aaaa_bbbb",
        "sk-ab***********wxyz",
        "gsk_1234567890abcdef",
        "ghp_0123456789abcdef0123",
        "AIzaSyA1234567890abcdefg",
        "AKIAIOSFODNN7EXAMPLE",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    ],
)
def test_a_key_is_taken_out(secret: str) -> None:
    assert secret not in redact(f"Incorrect API key provided: {secret}. See the page.")
    assert "[redacted]" in redact(f"key={secret}")


def test_credentials_in_an_address_and_a_header_are_taken_out() -> None:
    assert redact("http://user:pass@host/v1?key=supersecret&x=1") == "http://[redacted]@host/v1?key=[redacted]&x=1"
    assert redact("Authorization: Bearer abc.def.ghi") == "Authorization: Bearer [redacted]"


def test_ordinary_text_stays() -> None:
    text = "The model qwerty-layout does not exist; ask the task-runner for x at https://host:8000/v1."
    assert redact(text) == text


def test_a_key_that_comes_with_a_request_is_taken_out_afterwards() -> None:
    own = Redactor({})
    own.learn(["hunter2-hunter2", "short"])
    assert own("hunter2-hunter2 is short") == "[redacted] is short"
