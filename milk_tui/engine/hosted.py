"""Hosted providers as data: which variable holds the key, and sensible models for the two roles."""

from __future__ import annotations

from dataclasses import dataclass

from milk_tui.core.records import Role


@dataclass(frozen=True, slots=True)
class Hosted:
    """A provider that a key opens. ``primary`` is its cheap and fast model, ``escalation`` its deep one."""

    name: str
    key: str
    prefix: str
    primary: str
    escalation: str

    def model(self, role: Role) -> str:
        return self.primary if role is Role.PRIMARY else self.escalation


HOSTED: tuple[Hosted, ...] = (
    Hosted(
        "Anthropic",
        "ANTHROPIC_API_KEY",
        "anthropic",
        "anthropic/claude-haiku-5-5",
        "anthropic/claude-opus-5-5",
    ),
    Hosted("OpenAI", "OPENAI_API_KEY", "openai", "openai/gpt-5.4-mini", "openai/gpt-5.6"),
    Hosted("Google", "GEMINI_API_KEY", "gemini", "gemini/gemini-3.5-flash-lite", "gemini/gemini-3.8-flash"),
    Hosted(
        "Mistral",
        "MISTRAL_API_KEY",
        "mistral",
        "mistral/mistral-small-latest",
        "mistral/mistral-large-latest",
    ),
    Hosted("DeepSeek", "DEEPSEEK_API_KEY", "deepseek", "deepseek/deepseek-chat", "deepseek/deepseek-reasoner"),
    Hosted("xAI", "XAI_API_KEY", "xai", "xai/grok-4.3", "xai/grok-4.7"),
    Hosted("Groq", "GROQ_API_KEY", "groq", "groq/openai/gpt-oss-20b", "groq/openai/gpt-oss-120b"),
)
"""In the order in which a key is used when several are set."""

LOCAL_PREFIXES = ("ollama", "ollama_chat", "lm_studio", "llamafile", "hosted_vllm", "xinference")
"""litellm's providers whose server is on this machine unless ``api_base`` says otherwise."""

BARE_NAMES = ("gpt-", "chatgpt-", "o1", "o3", "o4", "claude-", "gemini-", "mistral-", "deepseek-", "grok-")
"""How models begin that litellm knows without a provider before them."""

_BARE_PREFIX = {
    "claude-": "anthropic",
    "gpt-": "openai",
    "chatgpt-": "openai",
    "o1": "openai",
    "o3": "openai",
}


def hosted_of(model: str) -> Hosted | None:
    """The provider of a litellm model name, when it is one of ours."""
    prefix = model.split("/", 1)[0] if "/" in model else ""
    if not prefix:
        prefix = next((name for start, name in _BARE_PREFIX.items() if model.startswith(start)), "")
    return next((hosted for hosted in HOSTED if hosted.prefix == prefix), None)


def is_local(model: str, api_base: str) -> bool:
    """True when requests for this model stay on this machine."""
    from urllib.parse import urlsplit

    if api_base:
        try:
            host = urlsplit(api_base).hostname or ""
        except ValueError:
            return False
        return host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdigit())
    return model.split("/", 1)[0] in LOCAL_PREFIXES
