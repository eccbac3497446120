"""Who may come in: names, origins, the key and the cookie, each looked at alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.serve.access import Gate, host_name, in_address, is_loopback, origin_of

HERE = Gate("127.0.0.1")


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("localhost:8100", "localhost"),
        ("LOCALHOST", "localhost"),
        ("localhost.:80", "localhost"),
        ("127.0.0.1:8100", "127.0.0.1"),
        ("[::1]:8100", "::1"),
        ("", ""),
        ("localhost:port", ""),
        ("localhost:99999", ""),
        ("user@localhost", ""),
        ("localhost/x", ""),
        ("localhost?x", ""),
        ("[::1", ""),
    ],
)
def test_a_host_header_is_a_name_and_a_port_or_nothing(header: str, name: str) -> None:
    assert host_name(header) == name


@pytest.mark.parametrize(
    ("listening", "header", "arrived", "known"),
    [
        ("127.0.0.1", "127.0.0.1:8100", "127.0.0.1", True),
        ("127.0.0.1", "localhost:9000", "127.0.0.1", True),
        ("localhost", "[::1]:8100", "::1", True),
        ("127.0.0.1", "elsewhere.example:8100", "127.0.0.1", False),
        ("127.0.0.1", "localhost.elsewhere.example", "127.0.0.1", False),
        ("127.0.0.1", "127.0.0.1.elsewhere.example", "127.0.0.1", False),
        ("127.0.0.1", "192.168.1.5:8100", "127.0.0.1", False),
        ("127.0.0.1", None, "127.0.0.1", False),
        ("0.0.0.0", "192.168.1.5:8100", "192.168.1.5", True),
        ("0.0.0.0", "192.168.1.6:8100", "192.168.1.5", False),
        ("0.0.0.0", "elsewhere.example", "192.168.1.5", False),
        ("0.0.0.0", "0.0.0.0:8100", "127.0.0.1", False),
        ("0.0.0.0", "localhost:8100", "127.0.0.1", True),
        ("0.0.0.0", "localhost:8100", "192.168.1.5", False),
        ("box.lan", "box.lan:8100", "192.168.1.5", True),
        ("box.lan", "localhost:8100", "192.168.1.5", False),
        ("::", "[fe80::1]:8100", "fe80::1%eth0", True),
    ],
)
def test_the_server_goes_by_its_own_names_alone(listening: str, header: str | None, arrived: str, known: bool) -> None:
    assert Gate(listening).knows(header, arrived) is known


@pytest.mark.parametrize(
    ("origin", "header", "same"),
    [
        ("http://127.0.0.1:8100", "127.0.0.1:8100", True),
        ("http://LOCALHOST:8100", "localhost:8100", True),
        ("http://localhost:8100", "127.0.0.1:8100", False),
        ("http://localhost:8101", "localhost:8100", False),
        ("https://localhost:8100", "localhost:8100", False),
        ("http://localhost:8100.elsewhere.example", "localhost:8100", False),
        ("null", "localhost:8100", False),
        ("", "", False),
        (None, None, False),
        ("http://", "", False),
    ],
)
def test_a_page_may_ask_where_it_came_from_down_to_the_port(origin: str | None, header: str | None, same: bool) -> None:
    assert HERE.same_origin(origin, header) is same


def test_a_proxy_that_was_named_is_let_through_and_no_other() -> None:
    behind = Gate("127.0.0.1", "https://milk.example")
    assert behind.knows("milk.example", "127.0.0.1") and behind.knows("127.0.0.1:8100", "127.0.0.1")
    assert not behind.knows("other.example", "127.0.0.1")
    for header in ("milk.example", "127.0.0.1:8100"):
        assert behind.same_origin("https://milk.example", header)
        assert not behind.same_origin("https://other.example", header)
    assert not HERE.same_origin("https://milk.example", "127.0.0.1:8100")
    assert not HERE.knows("milk.example", "127.0.0.1")


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("https://Milk.example/", "https://milk.example"),
        ("http://box:8080", "http://box:8080"),
        ("milk.example", ""),
        ("https://milk.example/path", ""),
        ("ftp://milk.example", ""),
        ("https://user@milk.example", ""),
        ("https://", ""),
        ("https://[", ""),
    ],
)
def test_a_proxys_address_is_an_origin(address: str, origin: str) -> None:
    assert origin_of(address) == origin


@given(st.none() | st.text(max_size=80))
def test_nothing_but_the_key_opens_and_nothing_but_the_cookie_admits(given_text: str | None) -> None:
    assert not HERE.opens(given_text) and not HERE.admits(given_text)
    assert HERE.opens(HERE.token) and HERE.admits(HERE.ticket)
    assert not HERE.opens(HERE.ticket) and not HERE.admits(HERE.token)


@given(st.text(max_size=60))
def test_whatever_a_header_holds_it_is_read_without_an_error(header: str) -> None:
    host_name(header)
    HERE.knows(header, header)


def test_every_server_has_another_key_and_shows_it_nowhere() -> None:
    assert HERE.token != Gate("127.0.0.1").token and len(HERE.token) >= 40
    assert HERE.token not in repr(HERE) and HERE.ticket not in repr(HERE)


def test_addresses_are_written_as_browsers_read_them() -> None:
    assert in_address("127.0.0.1", 8100) == "127.0.0.1:8100"
    assert in_address("::1", 8100) == "[::1]:8100"
    assert in_address("localhost", 80) == "localhost"
    assert is_loopback("::1") and is_loopback("127.8.0.1") and not is_loopback("0.0.0.0") and not is_loopback("box.lan")
