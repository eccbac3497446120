"""Words that say that something changed, and what they name as the old."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core import cues
from milk_tui.core.cues import CueKind

NAMED = [
    ("We migrated the ledger from Postgres to ScyllaDB.", CueKind.FROM, "Postgres"),
    ("We migrated to ScyllaDB from Postgres.", CueKind.FROM, "Postgres"),
    ("The limit went from 5 to 8.", CueKind.FROM, "5"),
    ("timeout: 30s → 60s", CueKind.FROM, "30s"),
    ("Sidekiq was replaced by GoodJob.", CueKind.REPLACED, "Sidekiq"),
    ("We replaced lxml with selectolax.", CueKind.REPLACED, "lxml"),
    ("Biome replaces ESLint as the linter.", CueKind.REPLACED, "ESLint"),
    ("Photos are on R2 instead of S3.", CueKind.REPLACED, "S3"),
    ("It talks TCP rather than RTU.", CueKind.REPLACED, "RTU"),
    ("It is on R2 now, not S3.", CueKind.REPLACED, "S3"),
    ("We dropped ktlint in favour of ktfmt.", CueKind.DROPPED, "ktlint"),
    ("CSV is gone.", CueKind.DROPPED, "CSV"),
    ("We got rid of lxml.", CueKind.DROPPED, "lxml"),
    ("fastgrid was renamed to quickgrid.", CueKind.RENAMED, "fastgrid"),
    ("We renamed the mascot from Pixel to Dot.", CueKind.FROM, "Pixel"),
    ("Wir sind von Jenkins auf Woodpecker umgestiegen.", CueKind.FROM, "Jenkins"),
    ("Jest wurde durch Vitest ersetzt.", CueKind.REPLACED, "Jest"),
    ("Wir nutzen Linear statt Jira.", CueKind.REPLACED, "Jira"),
    ("Nous avons migré de MySQL vers MariaDB.", CueKind.FROM, "MySQL"),
    ("Mocha a été remplacé par Vitest.", CueKind.REPLACED, "Mocha"),
    ("Usamos Buildkite en lugar de Jenkins.", CueKind.REPLACED, "Jenkins"),
    ("Мы перешли с Redis на Valkey.", CueKind.FROM, "Redis"),
    ("支付接口已从微信支付改为银联。", CueKind.FROM, "微信支付"),
]

UNNAMED = [
    ("The limit is now 250.", CueKind.NOW),
    ("As of March it rotates every 30 days.", CueKind.NOW),
    ("Releases happen on Fridays from now on.", CueKind.NOW),
    ("Since version 5 it needs a token.", CueKind.NOW),
    ("It is weekly as of June.", CueKind.NOW),
    ("The panel no longer uses jQuery.", CueKind.NO_LONGER),
    ("Interns can't merge any more.", CueKind.NO_LONGER),
    ("The limit was raised to 250.", CueKind.BECAME),
    ("The export became JSON Lines.", CueKind.BECAME),
    ("Bumped the base image to trixie.", CueKind.BECAME),
    ("The new contact is Ines.", CueKind.BECAME),
    ("Das Zeitlimit ist jetzt 60 Sekunden.", CueKind.NOW),
    ("Der Server läuft nicht mehr auf Port 8080.", CueKind.NO_LONGER),
    ("Le délai est désormais de 60 secondes.", CueKind.NOW),
    ("Le site n'est plus chez OVH.", CueKind.NO_LONGER),
    ("Ahora el puerto es 9090.", CueKind.NOW),
    ("Los informes ya no se envían.", CueKind.NO_LONGER),
    ("Сервер теперь на порту 7010.", CueKind.NOW),
    ("端口现在是9090。", CueKind.NOW),
]

NONE = [
    "The theme switches to dark at night.",
    "Errors are moved to the dead letter queue.",
    "For now the limit is 5.",
    "The gateway times out after 30 seconds.",
    "We use Postgres because it is known.",
    "The option is set to true.",
    "Since it is small, it fits.",
]


@pytest.mark.parametrize(("text", "kind", "old"), NAMED)
def test_a_cue_names_the_old(text, kind, old):
    cue = cues.find(text)[0]
    assert cue.old is not None
    assert (cue.kind, text[cue.old[0] : cue.old[1]]) == (kind, old)


@pytest.mark.parametrize(("text", "kind"), UNNAMED)
def test_a_cue_may_leave_the_old_unsaid(text, kind):
    assert kind in {cue.kind for cue in cues.find(text)}
    assert all(cue.old is None for cue in cues.find(text) if cue.kind is kind)


@pytest.mark.parametrize("text", NONE)
def test_a_habit_is_no_change(text):
    assert cues.find(text) == []


@given(st.text(max_size=300))
def test_any_text_can_be_searched(text):
    for cue in cues.find(text):
        assert cue.label
        assert all(0 <= start < end <= len(text) for start, end in cue.spans)


@pytest.mark.parametrize(
    "unit", ["a ", "a", "from ", "was replaced by ", "moved ", "the ", "not, ", ", not ", "no longer ", "从", "von "]
)
def test_an_adversarial_text_is_read_to_its_end(unit):
    cues_found = cues.find(unit * (20_000 // len(unit)) + " . Instead of Sidekiq.")
    assert cues_found
