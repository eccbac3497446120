"""Each kind of key is recognised, refused as a fact, and masked whole."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from milk_tui import own_keys
from milk_tui.core.percepts import SecretRefusedError, admit
from milk_tui.core.secret_scan import masked, secret_kind
from milk_tui.modelhost.redact import Redactor
from milk_tui.safe_log import safe
from tests.secrets.keys import KEYS, Key

each = pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name.replace(" ", "-"))
ROOT = Path(__file__).parents[2]


def test_there_are_thirty_kinds_at_least() -> None:
    assert len({key.name for key in KEYS}) >= 30


@each
def test_it_is_recognised_and_refused_as_a_fact(key: Key) -> None:
    assert secret_kind(f"we use {key.text} here")
    with pytest.raises(SecretRefusedError) as refused:
        admit(f"we use {key.text} here")
    assert key.secret not in str(refused.value)


@each
def test_it_is_masked_whole_and_what_stands_around_it_stays(key: Key) -> None:
    text = f"before {key.text} after"
    for shown in (masked(text), safe(text), Redactor({})(text)):
        assert key.secret not in shown
        assert not any(part in shown for part in parts(key.secret))
        assert shown.startswith("before ") and shown.endswith(" after")


def parts(secret: str) -> list[str]:
    """Pieces that would give the key away."""
    return [piece for piece in re.split(r"[.\n\\:-]", secret) if len(piece) >= 20 and "PRIVATE" not in piece]


@each
def test_a_key_of_the_program_is_taken_out_whatever_its_form_is(key: Key) -> None:
    environ = {"SHOP_API_KEY": key.secret, "PATH": "/bin"}
    told = own_keys.out(f"a {key.secret} b", environ)
    assert told == f"a {'•' * len(key.secret)} b"
    assert own_keys.out("the PATH is /bin", environ) == "the PATH is /bin"


def test_the_longer_of_two_keys_goes_whole() -> None:
    environ = {"A_KEY": "abcdefgh", "B_KEY": "abcdefgh-ijkl"}
    assert own_keys.out("abcdefgh-ijkl", environ) == "•" * 13


def test_the_repository_holds_no_key_of_these_forms() -> None:
    """What a hosting service would stop."""
    sure = ["private key", "GitHub token", "Anthropic key", "Stripe key", "Slack token", "AWS access key", "npm token"]
    listed = subprocess.run(["git", "ls-files", "tests/secrets", "tests/hostile", "tests/data/hostile"], cwd=ROOT,
                            capture_output=True, text=True, check=False)  # fmt: skip
    for name in listed.stdout.splitlines():
        assert secret_kind((ROOT / name).read_text("utf-8")) not in sure, name
