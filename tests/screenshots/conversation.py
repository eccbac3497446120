"""A person, two agents and a shop that charges twice."""

from __future__ import annotations

import json

CONFIG = """
[session]
primary = "qwen"
escalation = "claude"
[agents.qwen]
model = "ollama_chat/qwen2.5-coder"
window_tokens = 32768
[agents.claude]
model = "anthropic/claude-sonnet-4-5"
window_tokens = 200000
[routing]
weigh = false
[memory]
semantic = false
[ui]
reduced_motion = true
"""

PINNED = "Money is integer cents everywhere, never a float"
GLOBAL = ("Tests run with pytest -q from the repository's root", "Answer in English, code comments too")

WHY = "Why does checkout charge twice after a timeout?"
FIX = "Can we fix that without touching the billing worker?"

BEFORE = (
    ("Which tests cover refunds?", "Three: `test_refund_once`, `test_partial_refund` and `test_refund_of_a_gift`."),
    ("Rename Basket to Cart in the API docs", "Done in `docs/api.md` and `docs/webhooks.md`; the old name redirects."),
    ("Why is the nightly export slow since Monday?", "The index on `orders.closed_at` was dropped by migration 41."),
)
"""Sessions of the days before: a prompt and its answer each."""

HANDLER = """\
from gateway import GatewayTimeout, retry


@retry(times=3, on=GatewayTimeout)
def pay(order):
    return gateway.charge(order.card, order.total)
"""
_OLD = "    return gateway.charge(order.card, order.total)"
_NEW = "    return gateway.charge(order.card, order.total, key=order.order_key)"

_WHY_ANSWER = r"""
SCN:tag need Stop the double charge after a gateway timeout
SCN:tag percept pay() retries charge() after every GatewayTimeout
SCN:say The handler tries again as soon as the gateway times out:\n\n
SCN:say ```python\n@retry(times=3, on=GatewayTimeout)\ndef pay(order):\n
SCN:say \x20   return gateway.charge(order.card, order.total)\n```\n\n
SCN:say A timeout does not mean that nothing happened: the gateway may have booked the first charge and only its answer
SCN:say \x20was lost. Two things are missing:\n\n1. an **idempotency key** that stays the same for every try
SCN:say \n2. a look at the gateway's state before the next try
SCN:tag percept The gateway accepts an Idempotency-Key header
SCN:tag frame slice: double charge
SCN:tag frame story: A checkout that times out is charged once
SCN:tag working file: payments/handler.py
SCN:tag working hypothesis: pay() charges again after every GatewayTimeout
"""

_FIX_ANSWER = r"""
SCN:say Not in the handler alone. `billing/worker.py` reads the same order from the queue and has a retry of its own,
SCN:say \x20so the key must exist before the message is sent.
SCN:tag working next: read billing/worker.py
SCN:tool record_memory {"fact": "billing/worker.py retries on its own, beside the handler"}
SCN:tool escalate {"reason": "The key has to be made in cart, carried by the queue, checked in billing"}
"""

_DESIGN = r"""
SCN:say **One key for each order, made once.** The cart makes it when the order is placed; the others only carry it or
SCN:say \x20check it.\n\n| service | does | change |\n|---|---|---|\n
SCN:say | cart | makes `order_key`, keeps it with the order | one column |\n
SCN:say | queue | carries it in the message's header | none |\n
SCN:say | billing | `insert … on conflict do nothing`, then `charge()` | one table |\n\n
SCN:say Deploy billing first: it takes messages without a key until cart sends them. After that both retries are
SCN:say \x20harmless, and `@retry` in the handler can stay.
SCN:tag percept The cart makes order_key; billing deploys before cart
SCN:tag frame decided: The cart makes order_key [reason: both retries then carry the same key]
SCN:tag frame open: Who deletes old keys? [blocked on billing]
SCN:tag frame constraints: billing deploys before cart
SCN:tag invariant money: Integer cents everywhere, never a float
SCN:tag working hypothesis: The worker retries beside the handler
"""


_EDIT = {"path": "payments/handler.py", "old_text": _OLD, "new_text": _NEW}
"""The call with which the design is begun."""
_AFTER = "SCN:say The handler passes the key on now. Next: `order_key` in cart, then the check in billing."


def replies() -> list[str]:
    """What the models answer, one line a request: both prompts, the hand-over of the second one, what follows its
    call."""
    design = f"{_DESIGN}SCN:tool edit_file {json.dumps(_EDIT)}"
    return [" ".join(reply.split("\n")) for reply in (_WHY_ANSWER, _FIX_ANSWER, design, _AFTER)]
