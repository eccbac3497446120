"""A program that was stopped and goes on: by job control it had given the terminal back; by force (SIGSTOP, a debugger,
a frozen container) it had not, and whoever used the terminal meanwhile may have left it in any state.

Textual takes both for the first. After the second it would have two threads that read keys, each getting some of them,
and would hold its own terminal settings for those to be restored at the end.
"""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver


def install() -> None:
    """Have this process's Textual go on in this way. Safe to call again."""
    LinuxDriver._sigcont_application = _go_on  # type: ignore[assignment,method-assign]


def _go_on(driver: LinuxDriver, *_: object) -> None:
    if not driver._auto_restart:
        return
    if driver._must_signal_resume:
        driver.resume_application_mode()
        return
    before = driver.attrs_before
    _end_threads(driver)
    driver._must_signal_resume = True
    driver.resume_application_mode()
    driver.attrs_before = before


def _end_threads(driver: LinuxDriver) -> None:
    """Those for keys and for output; keys that wait stay for the next one."""
    if driver._key_thread is not None and not driver.exit_event.is_set():
        driver.exit_event.set()
        driver._key_thread.join()
        driver.exit_event.clear()
    driver.close()
