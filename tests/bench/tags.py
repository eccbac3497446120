"""``mb_per_s``: the interceptor over an answer of 20 MB in 64-character chunks. ``doubling``: how many times as long
adversarial text takes when it is twice as long, the worst of several kinds (``quality.md``, "Speed").

Processor time, so that what else the machine does stays out of it; medians.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from time import process_time

from milk_tui.core.tags import Interceptor, TagKind
from tests.bench import Options

_CHUNK = 64
_NONCE, _OTHER = "k3x9q2", "zz00zz"

_ANSWER = f"""\
The handler retries `charge()` after a timeout, but the first call may have gone through: the payment provider answers
after 31 seconds while the client gives up after 30. So the customer pays twice. Three things make it safe again:

1. **One key for each attempt to pay.** The provider drops a second call with the same `Idempotency-Key`.
2. The retry lives in the queue (`jobs/charge.py`), not in the handler.
3. A timeout is *unknown*, not *failed*: ask for the state before you try again.

<milk:percept:{_NONCE}>charge() is retried in the queue, not in the handler</milk:percept:{_NONCE}>

```python
def charge(order: Order, attempt: int) -> Receipt:
    key = f"{{order.id}}-{{order.revision}}"
    with timeout(seconds=45):
        if (known := provider.find(key)) is not None and known.amount < order.total:
            return known
        return provider.charge(order.total, currency=order.currency, idempotency_key=key)
```

- `payments/handler.py` loses its loop, and the test that counted the retries goes with it.
- `jobs/charge.py` gets the key; see [the provider's guide](https://example.org/idempotency) for its rules.

<milk:working:{_NONCE}>
file: jobs/charge.py
hypothesis: the timeout of the client is shorter than the provider's
next: write the test with a slow provider
</milk:working:{_NONCE}>

| case | before | after |
|---|---|---|
| timeout, charged | pays twice | pays once |
| timeout, not charged | pays once | pays once |

Nothing else in the shop calls `charge()`, so the change stays inside of the two files. I'd add a metric for calls that
end unknown: today nobody would notice if their number grew. Shall I write the migration for the new column too?

"""

_KINDS = "".join(f"<milk:{kind}:{_NONCE}>" for kind in TagKind)
_ADVERSARIAL = {
    "open tags": f"<milk:percept:{_NONCE}>",
    "open tags of all kinds": _KINDS,
    "open tags and wrong closes": f"<milk:percept:{_NONCE}></milk:need:{_NONCE}>",
    "partial headers": f"<milk:percept:{_NONCE[:-1]}",
    "lesser signs": "<",
    "backticks": "`",
    "runs of growing length": "".join("`" * n + " " for n in range(1, 60)),
    "unmatched spans": "a ` b\n\n",
    "fences": "```\n~~~\n",
    "list markers": "- " * 100 + "\n",
    "blanks": " ",
    "line feeds": "\n",
}


def _seconds(text: str, chunk: int = _CHUNK) -> float:
    interceptor = Interceptor(_NONCE, [_OTHER])
    chunks = [text[i : i + chunk] for i in range(0, len(text), chunk)]
    feed = interceptor.feed
    start = process_time()
    for piece in chunks:
        feed(piece)
    interceptor.close()
    return process_time() - start


def _repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def run(options: Options) -> dict[str, object]:
    runs = options.runs or 5
    answer = _repeated(_ANSWER, 2_000_000 if options.quick else 20_000_000)
    seconds = [_seconds(answer) for _ in range(runs)]
    size = 50_000 if options.quick else 200_000
    times: dict[str, list[tuple[float, float]]] = {}
    for name, unit in _ADVERSARIAL.items():
        once, twice = _repeated(unit, size), _repeated(unit, 2 * size)
        times[name] = [(_seconds(once), _seconds(twice)) for _ in range(runs)]
    doublings = {name: _doubling(pairs) for name, pairs in times.items()}
    slowest = min(size / median(once for once, _ in pairs) for pairs in times.values())
    return {
        "mb_per_s": round(len(answer.encode()) / 1e6 / median(seconds), 1),
        "doubling": max(doublings.values()),
        "doublings": doublings,
        "adversarial_mb_per_s": round(slowest / 1e6, 2),
        "samples": {"answer_s": seconds, "adversarial_s": times},
    }


def _doubling(pairs: Sequence[tuple[float, float]]) -> float:
    return round(median(twice for _, twice in pairs) / median(once for once, _ in pairs), 2)
