"""The embedded ``small`` model, asked directly: the same question is asked once in a run, or once in all runs that name
one file of answers."""

from __future__ import annotations

import asyncio
import json
import os
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from milk_tui.config import Config, EmbeddedConfig
from milk_tui.core.errors import MilkError
from milk_tui.embedded.catalogue import CONTEXT_TOKENS
from milk_tui.embedded.manager import EmbeddedManager
from milk_tui.engine.embedding import embedded_settings

CHARS_THAT_FIT = 9_000
"""Of a context: more would not leave room for question and answer in the model's window."""
WINDOW_TOKENS = CONTEXT_TOKENS


class SmallModel:
    """Deterministic completions (temperature 0) with a cache, which ``answers`` keeps from run to run."""

    def __init__(self, base_url: str, api_key: str, model: str, answers: Path | None = None) -> None:
        self._root = base_url.rstrip("/").removesuffix("/v1")
        self._url = f"{base_url.rstrip('/')}/chat/completions"
        self._key = api_key
        self._model = model
        self._answers = answers
        self._known: dict[tuple[str, str, int], str] = {}
        if answers is not None and answers.exists():
            for line in answers.read_text(encoding="utf-8").splitlines():
                system, text, most, answer = json.loads(line)
                self._known[(system, text, most)] = answer

    def ask(self, system: str, text: str, *, max_tokens: int) -> str:
        """The answer; what was asked before is not asked again. Raises OSError when the server is gone."""
        known = self._known.get((system, text, max_tokens))
        if known is not None:
            return known
        body = {
            "model": self._model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": text}],
            "temperature": 0,
            "max_tokens": max_tokens,
        }
        answer = str(self._post(self._url, body)["choices"][0]["message"]["content"])
        self._known[(system, text, max_tokens)] = answer
        if self._answers is not None:
            with self._answers.open("a", encoding="utf-8") as file:
                file.write(json.dumps([system, text, max_tokens, answer]) + "\n")
        return answer

    def tokens(self, text: str) -> int:
        """How many tokens the text has for this model."""
        return len(self._post(f"{self._root}/tokenize", {"content": text})["tokens"])

    def _post(self, url: str, body: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            url,
            json.dumps(body).encode(),
            {"content-type": "application/json", "authorization": f"Bearer {self._key}"},
        )
        with urllib.request.urlopen(request, timeout=600) as response:
            return json.load(response)


@contextmanager
def small_model(extra: Mapping[str, str]) -> Iterator[SmallModel | None]:
    """The model, started for the time of the block and with low priority; ``None`` when it isn't installed.

    ``extra``: ``threads`` of the server (one is faster on a machine that does much else), ``answers``: a file.
    """
    os.nice(4)
    loop = asyncio.new_event_loop()
    config = Config(embedded=EmbeddedConfig(threads=int(extra.get("threads", "0"))))
    manager = EmbeddedManager(embedded_settings(config, may_fetch=False))
    answers = Path(extra["answers"]) if "answers" in extra else None
    try:
        try:
            endpoint = loop.run_until_complete(manager.ready("small"))
        except MilkError:
            yield None
            return
        yield SmallModel(endpoint.base_url, endpoint.api_key, endpoint.model, answers)
    finally:
        loop.run_until_complete(manager.aclose())
        loop.close()
