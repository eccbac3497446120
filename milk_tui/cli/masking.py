"""What leaves the program as JSON: records without their nonces (``semantics.md`` §1)."""

from __future__ import annotations

from typing import Any

import msgspec

MASK = "••••••"


def masked(value: Any) -> Any:
    """``value`` as plain data in which every nonce is shown as ``••••••``."""
    return _mask(msgspec.to_builtins(value, str_keys=True))


def _mask(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: MASK if key == "nonce" else _mask(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_mask(inner) for inner in value]
    return value
