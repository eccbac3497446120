"""The report counts what was tried and never hides an item that broke."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability import __main__ as report
from tests.reliability.matrix import ITEMS
from tests.reliability.row import ROOT, Maker, Row, Suite, of_tests


@pytest.mark.parametrize("name", [name for name, make in ITEMS.items() if isinstance(make, Suite)])
def test_every_test_of_an_item_exists(name: str) -> None:
    make = ITEMS[name]
    assert isinstance(make, Suite)
    assert [path for path in make.where if not (ROOT / path.partition("::")[0]).exists()] == []


def test_tests_are_counted_and_what_failed_is_named(tmp_path: Path) -> None:
    file = tmp_path / "test_two.py"
    file.write_text(
        "import pytest\n"
        "def test_good(record_property): record_property('seed', 7)\n"
        "def test_bad(): raise ValueError('no  room\\n' + '!' * 200)\n"
        "def test_not_here(): pytest.skip('x')\n"
    )
    (row,) = of_tests("two", str(file))(False)
    assert row == Row("two", 2, 1, 1, [7], f"test_bad: ValueError: no room {'!' * 140}")


def test_an_item_without_a_test_counts_as_lost(tmp_path: Path) -> None:
    (row,) = of_tests("none", str(tmp_path / "test_nothing.py"))(False)
    assert (row.tried, row.lost) == (1, 1)


def test_what_only_the_long_form_tries_says_so() -> None:
    (row,) = of_tests("deep", "tests/nowhere.py", deep_only=True)(False)
    assert (row.tried, row.lost, row.note) == (0, 0, "only with --deep")


def test_an_item_that_breaks_is_a_row_that_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(deep: bool) -> list[Row]:
        raise RuntimeError("no room")

    monkeypatch.setitem(ITEMS, "broken", broken)
    assert report.made("broken", False) == [Row("broken", 1, 0, 1, note="RuntimeError: no room")]


def test_the_exit_code_says_whether_anything_was_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(ITEMS, "one", lambda deep: [Row("a | b", 3, 3, 0, [1, 2, 3, 4])])
    monkeypatch.setitem(ITEMS, "two", lambda deep: [Row("c", 3, 2, 1, note="x\ny")])
    output = tmp_path / "report.md"
    monkeypatch.setattr("sys.argv", ["x", "--report", "--only", "one", "--output", str(output)])
    assert report.main() == 0
    monkeypatch.setattr("sys.argv", ["x", "--report", "--only", "one", "two"])
    assert report.main() == 1
    assert "| a \\| b | 3 | 3 | 0 | 1 to 4 |  |" in capsys.readouterr().out
    assert output.read_text().splitlines()[-1].startswith("| a")


@pytest.mark.parametrize(
    ("asked", "deep"),
    [((), set()), (("--deep",), {"one", "two"}), (("--deep", "two"), {"two"})],
)
def test_the_long_form_is_for_what_is_named_or_for_all(
    monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...], deep: set[str]
) -> None:
    long: set[str] = set()

    def maker(name: str) -> Maker:
        def make(deep: bool) -> list[Row]:
            long.update({name} if deep else ())
            return [Row(name, 1, 1, 0)]

        return make

    for name in ("one", "two"):
        monkeypatch.setitem(ITEMS, name, maker(name))
    monkeypatch.setattr("sys.argv", ["x", "--report", "--only", "one", "two", *asked])
    assert report.main() == 0
    assert long == deep
