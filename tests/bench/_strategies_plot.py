"""The strategies' figures as bars, a panel for each column."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

_PANELS = (
    ("tokens_sent", "tokens sent (thousands)", 0.001, "less is better"),
    ("cacheable_share", "cacheable share (%)", 100.0, "more is better"),
    ("planted_facts_present_when_needed", "facts present when needed (%)", 100.0, "more is better"),
    ("stale_facts_present_when_asked", "stale facts present (%)", 100.0, "less is better"),
    ("largest_request", "largest request (thousand characters)", 0.001, "less is better"),
    ("answers_right", "answers right, small model (%)", 100.0, "more is better"),
)
_WIDTH, _PANEL, _ROW, _LABEL = 960, 320, 22, 128
_OURS = "perception (milk)"


def draw(figures: dict[str, dict[str, Any]], path: Path) -> None:
    """Write the plot."""
    height = 40 + (len(figures) * _ROW + 64) * 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#14171c"/>',
        '<text x="16" y="24" fill="#e6e6e6" font-size="15">Six ways to carry the same long sessions</text>',
    ]
    for number, (column, title, factor, good) in enumerate(_PANELS):
        left = (number % 3) * _PANEL + 12
        top = 40 + (number // 3) * (len(figures) * _ROW + 64)
        parts += _panel(figures, column, f"{title}: {good}", factor, left, top)
    path.write_text("\n".join([*parts, "</svg>", ""]), encoding="utf-8")


def _panel(
    figures: dict[str, dict[str, Any]], column: str, title: str, factor: float, left: int, top: int
) -> list[str]:
    most = max((values[column] or 0) * factor for values in figures.values()) or 1.0
    room = _PANEL - _LABEL - 64
    parts = [f'<text x="{left}" y="{top + 16}" fill="#9aa4b2" font-size="11">{escape(title)}</text>']
    for row, (name, values) in enumerate(figures.items()):
        y = top + 28 + row * _ROW
        value = values[column]
        color = "#f2b84b" if name == _OURS else "#5b8def"
        parts.append(f'<text x="{left}" y="{y + 12}" fill="#e6e6e6" font-size="11">{escape(name)}</text>')
        if value is None:
            parts.append(f'<text x="{left + _LABEL}" y="{y + 12}" fill="#9aa4b2">not measured</text>')
            continue
        width = max(1.0, room * value * factor / most)
        parts.append(f'<rect x="{left + _LABEL}" y="{y}" width="{width:.1f}" height="15" rx="2" fill="{color}"/>')
        said = f"{value * factor:,.0f}" if value * factor >= 10 or value == 0 else f"{value * factor:.1f}"
        parts.append(f'<text x="{left + _LABEL + width + 6:.1f}" y="{y + 12}" fill="#e6e6e6">{said}</text>')
    return parts
