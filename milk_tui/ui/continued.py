"""A program that is stopped and goes on: by job control it gives the terminal back; by force (SIGSTOP, a debugger, a
frozen container) it does not, and whoever used the terminal meanwhile may have left it in any state.

Textual takes both for the first. After the second it would have two threads that read keys, each getting some of them,
and would hold its own terminal settings for those to be restored at the end. It also does all of it wherever the signal
finds it, and would wait for ever for a lock that it holds itself.
"""

from __future__ import annotations

import asyncio
import errno
import termios
from collections.abc import Callable
from weakref import WeakSet

from textual.drivers.linux_driver import LinuxDriver

_stop: Callable[[LinuxDriver], None] = LinuxDriver._sigtstp_application


def install() -> None:
    """Have this process's Textual stop and go on in this way. Safe to call again."""
    LinuxDriver._sigtstp_application = _between_two_events(_stop)  # type: ignore[method-assign]
    LinuxDriver._sigcont_application = _between_two_events(_go_on)  # type: ignore[method-assign]


def _between_two_events(do: Callable[[LinuxDriver], None]) -> Callable[..., None]:
    """A handler of a signal that has the event loop do it, once for all that came until then, or does it where no loop
    runs."""
    due: WeakSet[LinuxDriver] = WeakSet()

    def handler(driver: LinuxDriver, *_: object) -> None:
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            do(driver)
            return
        if driver not in due:
            due.add(driver)
            loop.call_soon_threadsafe(now, driver)

    def now(driver: LinuxDriver) -> None:
        due.discard(driver)
        do(driver)

    return handler


def _go_on(driver: LinuxDriver) -> None:
    if not driver._auto_restart or _is_lost(driver):
        return
    if driver._must_signal_resume:
        driver.resume_application_mode()
        return
    before = driver.attrs_before
    _end_threads(driver)
    driver._must_signal_resume = True
    driver.resume_application_mode()
    driver.attrs_before = before


def _is_lost(driver: LinuxDriver) -> bool:
    """True where the terminal went away meanwhile: whoever is stopped is told to go on by that, too."""
    try:
        termios.tcgetattr(driver.fileno)
    except termios.error as error:
        return bool(error.args[0] == errno.EIO)
    return False


def _end_threads(driver: LinuxDriver) -> None:
    """Those for keys and for output; keys that wait stay for the next one."""
    if driver._key_thread is not None and not driver.exit_event.is_set():
        driver.exit_event.set()
        driver._key_thread.join()
        driver.exit_event.clear()
    driver.close()
