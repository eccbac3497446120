"""Every model that a person could give a role to here: what the config names, what runs on this machine, what is
installed, what a key opens. Nothing is asked beyond this machine; windows and prices are those of litellm's list."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from milk_tui.config import EMBEDDED_SIZES, Config, Provider
from milk_tui.core.errors import ConfigError, MilkError
from milk_tui.core.records import Role
from milk_tui.core.text import one_line
from milk_tui.engine import agent_spec
from milk_tui.engine.agent_spec import AgentSpec
from milk_tui.engine.discovery import installed_programs
from milk_tui.engine.hosted import HOSTED
from milk_tui.engine.local_servers import probe_all, servers_to_probe

if TYPE_CHECKING:
    from milk_tui.modelhost.client import ModelHost
    from milk_tui.modelhost.protocol import KnownModel

MORE_KEYS: Mapping[str, str] = {
    "OPENROUTER_API_KEY": "openrouter",
    "TOGETHERAI_API_KEY": "together_ai",
    "FIREWORKS_AI_API_KEY": "fireworks_ai",
    "CEREBRAS_API_KEY": "cerebras",
    "PERPLEXITYAI_API_KEY": "perplexity",
    "COHERE_API_KEY": "cohere_chat",
    "NVIDIA_NIM_API_KEY": "nvidia_nim",
    "DASHSCOPE_API_KEY": "dashscope",
    "MOONSHOT_API_KEY": "moonshot",
    "ZAI_API_KEY": "zai",
}
"""Variable → litellm's provider, for those that are never taken by themselves."""

MOST_OF_A_SERVER = 200


class Offer(Struct, frozen=True, kw_only=True):
    """One model to choose. ``group``: config · local · embedded · program · the provider's name."""

    spec: AgentSpec
    group: str
    note: str = ""
    window_tokens: int | None = None
    input_usd: float | None = None
    """Dollars for a token; 0.0 where it runs on this machine, ``None`` where that is unknown."""
    output_usd: float | None = None
    used_ms: int = 0
    """When it worked last; 0: never."""

    @property
    def key(self) -> str:
        return f"{self.group}:{self.spec.name}:{self.spec.model}:{self.spec.api_base}"


Recent = Mapping[tuple[str, str], int]


async def offers(
    config: Config,
    role: Role,
    host: ModelHost | None,
    recent: Recent,
    environ: Mapping[str, str] | None = None,
) -> AsyncGenerator[tuple[Offer, ...], None]:
    """All offers, again and again as more is known: at once what is on this machine, then its servers' models, then
    what the keys open. The newest used stand first."""
    environ = os.environ if environ is None else environ
    found = [*_of_config(config, role), *_programs(config, role, environ), *_embedded(role)]
    yield ranked(found, recent)
    probes = await probe_all(servers_to_probe(environ), config.timeouts.probe)
    served = [
        Offer(
            spec=agent_spec.served(role, model),
            group="local",
            note=f"{model.server.name} at {model.server.address}",
            window_tokens=model.window_tokens,
            input_usd=0.0,
            output_usd=0.0,
        )
        for probe in probes
        for model in probe.models[:MOST_OF_A_SERVER]
    ]
    found += served
    if served:
        yield ranked(found, recent)
    keys = {} if config.privacy.local_only else opened(environ)
    if keys and host is not None:
        found += await _hosted(role, host, keys)
        yield ranked(_completed(found), recent)


def opened(environ: Mapping[str, str]) -> dict[str, str]:
    """litellm's provider → the variable that holds its key, for the keys that are set."""
    known = {hosted.prefix: hosted.key for hosted in HOSTED} | {name: key for key, name in MORE_KEYS.items()}
    return {name: key for name, key in known.items() if environ.get(key)}


def ranked(found: Sequence[Offer], recent: Recent) -> tuple[Offer, ...]:
    """What was used last first, the rest in the order in which it was found; each model once."""
    once: dict[tuple[str, str, tuple[str, ...]], Offer] = {}
    for offer in found:
        once.setdefault((offer.spec.model, offer.spec.api_base, offer.spec.command), offer)
    dated = [replace(offer, used_ms=_used(offer.spec, recent)) for offer in once.values()]
    return tuple(sorted(dated, key=lambda offer: -offer.used_ms))


def _used(spec: AgentSpec, recent: Recent) -> int:
    if spec.own_program:
        return max((at for (_, name), at in recent.items() if name == spec.name), default=0)
    return max((at for (model, _), at in recent.items() if model == spec.model), default=0)


def _of_config(config: Config, role: Role) -> list[Offer]:
    found = []
    for name in config.agents:
        spec = agent_spec.from_config(config, role, name, "config")
        cost = 0.0 if spec.local else None
        window = spec.window_tokens
        found.append(
            Offer(spec=spec, group="config", note=spec.shown, window_tokens=window, input_usd=cost, output_usd=cost)
        )
    for each in Role:
        word = getattr(config.session, each.value)
        if word and word.lower() not in {name.lower() for name in config.agents}:
            try:
                spec = agent_spec.from_word(config, role, word, "config")
            except ConfigError:
                continue
            found.append(Offer(spec=spec, group="config", note=spec.shown))
    return found


def _programs(config: Config, role: Role, environ: Mapping[str, str]) -> list[Offer]:
    return [
        Offer(spec=spec, group="program", note=" ".join(spec.command))
        for spec in installed_programs(config, role, environ)
    ]


def _embedded(role: Role) -> list[Offer]:
    from milk_tui.embedded.catalogue import find_model

    found = []
    for size in EMBEDDED_SIZES:
        model = find_model(size)
        note = f"{one_line(model.title, 60)}, {model.bytes / 1e6:,.0f} MB"
        found.append(
            Offer(
                spec=agent_spec.embedded(role, size, "runs here"),
                group="embedded",
                note=note,
                window_tokens=4_096,
                input_usd=0.0,
                output_usd=0.0,
            )
        )
    return found


async def _hosted(role: Role, host: ModelHost, keys: Mapping[str, str]) -> list[Offer]:
    """The models that the keys open; none when the model host can't say."""
    await host.start()
    try:
        models = await host.known(tuple(keys))
    except MilkError:
        return []
    first = {hosted.model(role) for hosted in HOSTED}
    names = {hosted.prefix: hosted.name for hosted in HOSTED}
    shown = [_offered(role, model, keys, names) for model in models if _fits(model)]
    return sorted(shown, key=lambda offer: offer.spec.model not in first)


def _fits(model: KnownModel) -> bool:
    """A name that can be shown, and said again."""
    return len(model.name) <= 200 and model.name.isprintable() and " " not in model.name


def _offered(role: Role, model: KnownModel, keys: Mapping[str, str], names: Mapping[str, str]) -> Offer:
    spec = AgentSpec(
        name=agent_spec.short_name(model.name),
        role=role,
        model=model.name,
        api_key_env=keys.get(model.provider, ""),
        source=keys.get(model.provider, ""),
    )
    return Offer(
        spec=spec,
        group=names.get(model.provider, model.provider),
        note=keys.get(model.provider, ""),
        window_tokens=model.window_tokens,
        input_usd=model.input_usd,
        output_usd=model.output_usd,
    )


def _completed(found: Sequence[Offer]) -> list[Offer]:
    """The config's own offers with what litellm's list says about the same model."""
    known = {offer.spec.model: offer for offer in found if offer.group not in ("config", "local")}

    def completed(offer: Offer) -> Offer:
        same = known.get(offer.spec.model)
        if offer.group != "config" or same is None:
            return offer
        window = offer.window_tokens or same.window_tokens
        return replace(offer, window_tokens=window, input_usd=same.input_usd, output_usd=same.output_usd)

    return [completed(offer) for offer in found]


def typed(config: Config, role: Role, word: str) -> Offer | None:
    """The offer for a name that a person typed and that stands in no list; ``None`` when it can be no model."""
    try:
        spec = agent_spec.from_word(config, role, word.strip(), "typed")
    except ConfigError:
        return None
    group = "program" if spec.own_program else "embedded" if spec.provider is Provider.EMBEDDED else "typed"
    return Offer(spec=spec, group=group, note="as you wrote it")
