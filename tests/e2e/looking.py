"""What a person reads off the screen, pane by pane."""

from __future__ import annotations

from tests.support.terminal import Terminal

_THIN = str.maketrans("┏┓┗┛━┃", "╭╮╰╯─│")
"""Frames with the focus are heavy where there are few colours."""
_DRAWN = dict.fromkeys(map(ord, "▌▁▂▃▄▅▆▇█"), " ")
PLACEHOLDER = "Ask, or / for commands"


def _lines(screen: Terminal) -> list[str]:
    return [line.translate(_THIN) for line in screen.screen.display]


def pane(screen: Terminal, title: str) -> str:
    """The text inside the box whose upper edge carries the title; empty when there is none."""
    lines = _lines(screen)
    for top, line in enumerate(lines):
        at = line.find(f"─ {title} ")
        if at < 0:
            continue
        left, right = line.rfind("╭", 0, at), line.find("╮", at)
        if left < 0 or right < 0:
            continue
        inside = []
        for row in lines[top + 1 :]:
            if row[left] == "╰":
                break
            inside.append(row[left + 1 : right].rstrip())
        return "\n".join(inside)
    return ""


def conversation(screen: Terminal) -> str:
    return pane(screen, "conversation")


def facts(screen: Terminal) -> str:
    return pane(screen, "percepts")


def prompt(screen: Terminal) -> str:
    """What is written in the prompt: the text of the last box, without its mark; empty where there is no box, as on
    the shell's screen, which shows what is typed too."""
    lines = _lines(screen)
    bottom = max((y for y, line in enumerate(lines) if line.startswith("╰")), default=0)
    top = max((y for y, line in enumerate(lines[:bottom]) if line.startswith("╭")), default=bottom)
    inside = [line[1:].rstrip().removesuffix("│").strip() for line in lines[top + 1 : bottom]]
    text = "\n".join(inside).removeprefix("❯").strip()
    return "" if text == PLACEHOLDER else text


def plain(text: str) -> str:
    """Words with one space between them, however the screen wrapped them."""
    return " ".join(text.translate(_DRAWN).split())


def wait_in(screen: Terminal, title: str, *words: str, deadline_s: float = 30.0) -> str:
    """Wait until the pane shows all the words; returns its text."""
    screen.wait_for(lambda _: all(each in plain(pane(screen, title)) for each in words), deadline_s)
    return pane(screen, title)


def ask(screen: Terminal, text: str, key: str = "enter") -> None:
    """Type a prompt and send it when it is on the screen."""
    screen.send(text)
    screen.wait_for(lambda _: plain(text)[-30:] in plain(prompt(screen)))
    screen.press(key)


def leave(screen: Terminal) -> None:
    screen.press("ctrl+q")
    assert screen.wait_exit() == 0


def answer(screen: Terminal, key: str) -> None:
    """Answer with a key what an agent asks. On a busy machine the request may listen later than it looks; the key is
    then in the prompt, as if it had been typed ahead, and a person who sees that takes it back and presses again."""
    for _ in range(5):
        screen.wait_for(lambda text: "asks" in screen.title and "y allow once" in text)
        screen.settle(0.5, 1.0)
        screen.press(key)
        screen.pump(1.0)
        if prompt(screen) != key:
            return
        screen.press("backspace")
        screen.pump(1.0)
    raise AssertionError(f"{key} is never taken as an answer\n{screen.text}")
