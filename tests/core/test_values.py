"""Which values a sentence names, and when two of them are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.values import ValueKind, find


def keys(text: str) -> list[tuple[str, str]]:
    return [(value.group, value.key) for value in find(text)]


EQUAL = [
    ("30 s", "30000 ms"),
    ("30 s", "thirty seconds"),
    ("30s", "30 sec"),
    ("2 hours", "120 minutes"),
    ("one week", "7 days"),
    ("1 GB", "1,000 MB"),
    ("1 GiB", "1024 MiB"),
    ("12 minutes", "twelve minutes"),
    ("90 %", "90 percent"),
    ("$100", "100 USD"),
    ("€50", "50 EUR"),
    ("500 kbit/s", "0.5 mbit/s"),
    ("10,000 rows", "10000 rows"),
    ("10k rows", "10_000 rows"),
    ("three", "3"),
    ("drei Tage", "3 days"),
    ("2026-06-01", "1 June 2026"),
    ("June 1st, 2026", "1.6.2026"),
    ("3rd of May", "May 3"),
    ("02:00", "2 am"),
    ("14:30", "2:30 pm"),
    ("v2.3.1", "2.3.1"),
    ("/var/log/app/", "`/var/log/app`"),
    ("./src/main.py", "src/main.py"),
    ("3e-4", "0.0003"),
    ("#3366FF", "#3366ff"),
    ("`max_size`", "max_size"),
    ("charge()", "`charge()`"),
    ("每天三次", "每天3次"),
]

DIFFERENT = [
    ("30 s", "60 s"),
    ("30 s", "30 MB"),
    ("30", "30 s"),
    ("port 8080", "port 8081"),
    ("3 May", "3 June"),
    ("3 May 2025", "3 May 2026"),
    ("2.3.1", "2.3.2"),
    ("1 GB", "1 GiB"),
    ("a/b.py", "a/c.py"),
    ("9 am", "9 pm"),
]


@pytest.mark.parametrize(("one", "other"), EQUAL)
def test_equal_values_have_one_form(one, other):
    assert keys(f"it is {one} there") == keys(f"it is {other} there")
    assert len(keys(f"it is {one} there")) == 1


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_different_values_differ(one, other):
    assert keys(f"it is {one} there") != keys(f"it is {other} there")


@pytest.mark.parametrize(
    ("text", "kind", "key"),
    [
        ("it listens on port 9464", ValueKind.PORT, "9464"),
        ("see localhost:5432", ValueKind.PORT, "5432"),
        ("see #231", ValueKind.REFERENCE, "#231"),
        ("see SHOP-12", ValueKind.REFERENCE, "shop-12"),
        ("hashed with SHA-256", ValueKind.IDENTIFIER, "sha-256"),
        ("at https://example.org/a?b=c.", ValueKind.URL, "https://example.org/a?b=c"),
        ("mail ops@example.org now", ValueKind.IDENTIFIER, "ops@example.org"),
        ("in ~/.config/x.toml", ValueKind.PATH, "~/.config/x.toml"),
        ("in .env today", ValueKind.PATH, ".env"),
        ("with --no-verify", ValueKind.IDENTIFIER, "--no-verify"),
        ("call shop.cart.total()", ValueKind.IDENTIFIER, "shop.cart.total"),
        ("the image is debian:bookworm", ValueKind.IDENTIFIER, "debian:bookworm"),
        ("the branch docs-live is it", ValueKind.IDENTIFIER, "docs-live"),
        ("due in Q3 2026", ValueKind.DATE, "2026-q3"),
    ],
)
def test_a_value_has_a_kind(text, kind, key):
    assert [(value.kind, value.key) for value in find(text)] == [(kind, key)]


@pytest.mark.parametrize("text", ["we may use it", "the march was long", "a well-known one of them", "no value here."])
def test_an_ordinary_word_is_no_value(text):
    assert find(text) == []


@given(st.text(max_size=300) | st.text("0123456789.:/-_`#@ apmx%$", max_size=120))
def test_values_are_in_order_and_apart_in_any_text(text):
    position = 0
    for value in find(text):
        assert value.start >= position
        assert text[value.start : value.end] == value.text != ""
        position = value.end


@pytest.mark.parametrize("unit", ["1", "1.", "1:", "a/", "a.", "a_", "#", "`", "-", "port ", "3 May ", "http://", "5 "])
def test_an_adversarial_text_is_read_to_its_end(unit):
    assert find(unit * (20_000 // len(unit)) + " of 45 MB")[-1].key == "45000000"
