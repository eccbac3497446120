"""A fact that names a file which is gone says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.recall.grounding import missing
from tests.recall.memory import Memory
from tests.store.makers import make_session


@pytest.fixture
def project(tmp_path):
    (tmp_path / "src" / "shop").mkdir(parents=True)
    (tmp_path / "src" / "shop" / "cart.py").touch()
    return tmp_path


@pytest.mark.parametrize(
    ("content", "gone"),
    [
        ("the cart is in src/shop/cart.py", ""),
        ("the cart is in src/shop/basket.py, mostly", "src/shop/basket.py"),
        ("see `src/shop/basket.py:12`", "src/shop/basket.py"),
        ("src/shop/cart.py took over from src/shop/old.py", "src/shop/old.py"),
        ("it may be in lib/basket.py", ""),
        ("see https://example.org/src/shop/basket.py", ""),
        ("~/src/shop/basket.py and /src/shop/basket.py and $HOME/src/shop/basket.py", ""),
        ("src/shop/../shop/basket.py", ""),
        ("src/shop/basket_<n>.py and src/shop/*.py", ""),
        ("either/or", ""),
        ("", ""),
    ],
)
def test_only_what_is_surely_gone_is_named(project, content, gone):
    assert missing(content, project) == gone


@given(st.text(max_size=200) | st.text("a/.~_-:\x00", max_size=60))
def test_any_text_may_be_looked_at(tmp_path_factory, content):
    assert isinstance(missing(content, tmp_path_factory.getbasetemp()), str)


def test_a_given_fact_says_which_file_is_gone(store, project):
    memory = Memory(store, make_session(store, str(project)))
    memory.learn("the cart lives in src/shop/cart.py", "the basket lives in src/shop/basket.py")
    asides = {fact.content: fact.aside for fact in memory.given("where do cart and basket live?")}
    assert asides == {
        "the cart lives in src/shop/cart.py": "",
        "the basket lives in src/shop/basket.py": "src/shop/basket.py is not there now",
    }


def test_files_of_another_sessions_facts_are_not_looked_for(store, project):
    memory = Memory(store, make_session(store, str(project)))
    memory.learn("the basket lives in src/shop/basket.py", session=None)
    (fact,) = memory.given("where does the basket live?")
    assert fact.aside == ""
