"""The runtime's settings and what is said when it can't be loaded."""

from __future__ import annotations

import os

from milk_tui.embedded.llama import import_problem, usable_threads


def test_threads_are_the_usable_cores_up_to_four() -> None:
    assert usable_threads() == min(
        4, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    )


def test_an_asked_number_of_threads_is_taken() -> None:
    assert usable_threads(7) == 7


def test_a_missing_libgomp_names_the_package() -> None:
    problem = import_problem(ImportError("libgomp.so.1: cannot open shared object file: No such file or directory"))
    assert "libgomp.so.1" in problem.what
    assert "libgomp1" in problem.hint


def test_a_missing_runtime_names_the_extra() -> None:
    problem = import_problem(ModuleNotFoundError("No module named 'xllamacpp'", name="xllamacpp"))
    assert "milk-tui[embedded]" in problem.hint


def test_any_other_problem_is_told_in_its_own_words() -> None:
    assert "undefined symbol" in import_problem(ImportError("undefined symbol: x")).what
