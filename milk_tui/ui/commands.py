"""What a slash command says, and what the commands do with the session."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

from milk_tui.core.errors import MilkError
from milk_tui.ui.actions import BY_COMMAND, BY_ID, Action
from milk_tui.ui.agent_commands import agent_commands
from milk_tui.ui.answer_commands import answer_commands
from milk_tui.ui.fact_doings import FactDoings
from milk_tui.ui.helper_commands import helper_commands
from milk_tui.ui.perception_commands import perception_commands
from milk_tui.ui.prompt_commands import prompt_commands
from milk_tui.ui.screen_commands import screen_commands
from milk_tui.ui.session_commands import session_commands
from milk_tui.ui.state import ESCALATION, SessionState
from milk_tui.ui.work_commands import work_commands

if TYPE_CHECKING:
    from milk_tui.core.records import Percept
    from milk_tui.engine.conductor import Conductor
    from milk_tui.ui.control import Control
    from milk_tui.ui.permission_dialog import PermissionDialog

Doing: TypeAlias = Callable[[str], Awaitable[None]]
"""What a command does with what follows it."""

NO_SESSION = "the session is not open yet; what you wrote is kept"
NO_ESCALATION = (
    "no deeper agent is configured. Start with --escalation MODEL (embedded:medium needs no key), or set it "
    "in the config under [session]; milk-tui doctor says what was found"
)


class CommandError(MilkError):
    """A command that can't be run; what was written is kept."""


@dataclass(frozen=True, slots=True)
class Command:
    action: Action
    argument: str


def parse(text: str) -> Command | None:
    """The command that the text is; ``None`` for a prompt. Raises CommandError for an unknown or wrong one.

    A path (``/usr/bin …``) is a prompt, and so is what begins with a space. ``!`` begins a shell command.
    """
    if text.startswith("!") and text[1:].strip():
        return Command(BY_ID["run-command"], text[1:].strip())
    first, _, rest = text.partition(" ")
    name = first[1:].rstrip()
    if not text.startswith("/") or "\n" in first or not (name.isascii() and name.replace("-", "").isalpha()):
        return None
    action = BY_COMMAND.get(name.lower())
    if action is None:
        raise no_such(name.lower())
    argument = rest.strip()
    if action.needs_argument and not argument:
        raise CommandError(f"/{name} needs more: {action.usage}")
    return Command(action, argument)


def no_such(name: str) -> CommandError:
    """What to say about a command that is none: what replaces it here, or which ones are nearest."""
    from difflib import get_close_matches

    from milk_tui.ui.replaced import REPLACED

    if (instead := REPLACED.get(name)) is not None:
        return CommandError(f"/{name}: {instead}.")
    near = get_close_matches(name, BY_COMMAND, n=3, cutoff=0.6)
    near += [known for known in BY_COMMAND if known.startswith(name) and known not in near]
    meant = f"did you mean {' or '.join(f'/{known}' for known in near[:3])}? " if near else ""
    return CommandError(
        f"there is no command /{name}:" if near else f"there is no command /{name}.",
        f"{meant}F1 lists them all; a space before the slash sends it as text.",
    )


class Surface(Protocol):
    """What the commands need of the screen."""

    @property
    def permission(self) -> PermissionDialog | None:
        """The dialog of what an agent asks."""

    def note(self, text: str, severity: str = "information") -> None:
        """Say something where the person is writing."""

    def sent(self, text: str) -> None:
        """It is one of those that up brings back."""

    def put_back(self, text: str) -> None:
        """Give back what could not be sent."""

    def copy(self, text: str) -> None:
        """Put it into the clipboard, and say what came of that."""


class Commands:
    """The session's actions, by key or by command. ``MilkError`` goes through to the caller."""

    def __init__(self, control: Control, state: SessionState, surface: Surface) -> None:
        self._control = control
        self._state = state
        self._surface = surface
        self._facts = facts = FactDoings(control, lambda text: surface.note(text))
        self.by_id: dict[str, Doing] = {
            "escalate": self.escalate,
            "escape": self.stop,
            "hand-back": self.hand_back,
            "retry": self.retry,
            "need": self.need,
            "learn": self.learn,
            "pin-fact": self._with_facts(facts.pin),
            "forget-fact": self._with_facts(facts.forget),
            "restore-fact": self.undo,
            "edit-fact": self.edit,
            "heavier-fact": self._with_facts(facts.heavier),
            "lighter-fact": self._with_facts(facts.lighter),
            "readers-of-fact": self._with_facts(facts.readers),
            "promote-fact": self._with_facts(facts.promote),
            "accept-fact": self._settle(accepted=True),
            "reject-fact": self._settle(accepted=False),
            "merge-facts": self._with_facts(facts.merge, 2),
            "supersede-fact": self._with_facts(facts.supersede, 2),
            "take-back": self.take_back,
            "rename-session": self.rename,
            **answer_commands(control, lambda text: surface.copy(text)),
            **agent_commands(control, lambda text: surface.note(text)),
            **work_commands(control, lambda: surface.permission, lambda text: surface.note(text)),
            **helper_commands(control, lambda text: surface.note(text)),
            **screen_commands(control, lambda text: surface.note(text)),
            **prompt_commands(control, surface),
            **perception_commands(control, lambda text: surface.note(text)),
            **session_commands(control, lambda text: surface.note(text)),
        }

    async def send(self, text: str) -> None:
        """Send a prompt; what can't be sent goes back."""
        try:
            await self._control.submit(text)
        except MilkError:
            self._surface.put_back(text)
            raise

    async def escalate_key(self, written: str) -> None:
        """``ctrl+g``: this one turn with what was written, which goes back when it can't be sent; nothing written: pin
        or unpin the escalation agent."""
        try:
            conductor = self._conductor()
            self._need_escalation()
            if written:
                self._surface.sent(written)
                await self._control.submit(written, escalate=True)
        except MilkError:
            if written:
                self._surface.put_back(written)
            raise
        if written:
            return
        from milk_tui.core.records import Role

        pinned = conductor.session.pinned_agent is Role.ESCALATION
        await conductor.pin_agent(None if pinned else Role.ESCALATION)
        name = self._state.agent(ESCALATION).name
        self._surface.note(f"{name} is no longer pinned" if pinned else f"every prompt goes to {name} now")

    async def escalate(self, argument: str) -> None:
        """``/escalate``: the newest prompt again, for the escalation agent, with the person's reason."""
        conductor = self._conductor()
        self._need_escalation()
        last = await self._control.last_prompt()
        fresh = argument == "fresh"
        reason = "" if fresh else argument
        prompt = last or reason
        if not prompt:
            raise CommandError("there is nothing to hand over yet", "write a prompt and press ctrl+g")
        await conductor.submit(prompt, escalate=True, reason=reason, fresh=fresh)

    async def stop(self, argument: str = "") -> None:
        if not await self._control.stop():
            self._surface.note("nothing runs")

    async def hand_back(self, argument: str = "") -> None:
        conductor = self._conductor()
        session = conductor.session
        running = self._state.running
        busy = running is not None and running.role == ESCALATION
        if not (busy or session.pinned_agent or session.sticky or session.waiting):
            self._surface.note(f"{session.primary.name or 'the primary'} has the conversation already")
            return
        await conductor.hand_back()
        self._surface.note(f"back to {conductor.session.primary.name}")

    async def retry(self, argument: str = "") -> None:
        conductor = self._conductor()
        turn_id = await self._control.last_turn()
        if not turn_id:
            raise CommandError("nothing was asked yet")
        await conductor.retry(turn_id)

    async def need(self, argument: str) -> None:
        conductor = self._conductor()
        if argument:
            await conductor.set_need(argument)
            return
        brick = self._state.bricks.get("current_need")
        self._surface.note(f"need: {brick.text}" if brick is not None and brick.text else "no need is set")

    async def learn(self, argument: str) -> None:
        """``!`` before the fact keeps one that looks like a secret."""
        override = argument.startswith("!")
        percept = await self._conductor().learn(argument.removeprefix("!").strip(), override_secret=override)
        self._surface.note(f"remembered {percept.short_id}")

    async def undo(self, argument: str = "") -> None:
        """Bring this fact back, or undo what was done with facts last."""
        await self._facts.restore(await self._named(argument, 1) if argument else ())

    def _with_facts(self, do: Callable[[Sequence[Percept]], Awaitable[None]], number: int = 1) -> Doing:
        """A command that names facts by their ids."""

        async def run(argument: str) -> None:
            await do(await self._named(argument, number))

        return run

    def _settle(self, *, accepted: bool) -> Doing:
        async def run(argument: str) -> None:
            await self._facts.settle(await self._named(argument, 1), accepted=accepted)

        return run

    async def edit(self, argument: str) -> None:
        """``!`` before the text keeps one that looks like a secret."""
        reference, _, text = argument.partition(" ")
        if not text.strip():
            raise CommandError("/edit needs more: /edit ID TEXT")
        (percept,) = await self._named(reference, 1)
        insist = text.strip().startswith("!")
        await self._facts.edit(percept, text.strip().removeprefix("!").strip(), insist=insist)

    async def _named(self, argument: str, number: int) -> tuple[Percept, ...]:
        """The facts that the ids mean. Raises CommandError for another number of them."""
        references = argument.split()
        if len(references) != number:
            ids = "the id of a fact" if number == 1 else f"the ids of {number} facts"
            raise CommandError(f"this needs {ids}", "the list beside the conversation shows the ids")
        return tuple([await self._control.fact(reference) for reference in references])

    async def take_back(self, argument: str = "") -> None:
        text = await self._control.take_back()
        if text is None:
            self._surface.note("no prompt waits")
        else:
            self._surface.put_back(text)

    async def rename(self, argument: str) -> None:
        await self._conductor().rename(argument)

    def _conductor(self) -> Conductor:
        if self._control.conductor is None:
            raise CommandError(NO_SESSION)
        return self._control.conductor

    def _need_escalation(self) -> None:
        view = self._state.agent(ESCALATION)
        if view.state == "missing":
            raise CommandError(view.text or NO_ESCALATION)
