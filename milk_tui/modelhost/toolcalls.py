"""Tool calls, put together from the pieces that a stream brings."""

from __future__ import annotations

from dataclasses import dataclass

from milk_tui.modelhost.protocol import ToolCallMade


@dataclass(slots=True)
class _Open:
    call_id: str
    name: str
    arguments: list[str]


class ToolCalls:
    """Calls by index. A piece that brings another id for an index that is taken begins another call: some
    servers give every call the index 0."""

    def __init__(self) -> None:
        self._calls: list[_Open] = []
        self._current: dict[int, _Open] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, index: int | None, call_id: str | None, name: str | None, arguments: str | None) -> None:
        place = index if index is not None else max(self._current, default=0)
        call = self._current.get(place)
        if call is None or (call_id and call.call_id and call_id != call.call_id):
            call = self._current[place] = _Open(call_id or "", "", [])
            self._calls.append(call)
        call.call_id = call.call_id or call_id or ""
        call.name = call.name or name or ""
        if arguments:
            call.arguments.append(arguments)

    def finish(self, number: int) -> list[ToolCallMade]:
        """The calls in the order in which they began; one without an id gets one."""

        return [
            ToolCallMade(
                id=number,
                index=at,
                call_id=call.call_id or f"call_{number}_{at}",
                name=call.name,
                arguments="".join(call.arguments),
            )
            for at, call in enumerate(self._calls)
        ]
