"""Keys and passwords are recognised, ordinary sentences about them are not. All values here are made up."""

from __future__ import annotations

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milk_tui.core.secret_scan import KINDS, masked, secret_kind


def made_up(length: int, letters: str = string.ascii_letters + string.digits, seed: int = 7) -> str:
    chosen = random.Random(seed)
    return "7a7Z7" + "".join(chosen.choice(letters) for _ in range(length - 5))


HEX = "0123456789abcdef"
URLSAFE = string.ascii_letters + string.digits + "-_"
A32, A40 = made_up(32), made_up(40)
H32 = made_up(32, HEX).lower().replace("z", "f")

SECRETS = [
    ("-----BEGIN PRIVATE KEY-----", "private key"),
    ("-----BEGIN RSA PRIVATE KEY-----", "private key"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----", "private key"),
    ("-----BEGIN PGP PRIVATE KEY BLOCK-----", "private key"),
    ("PuTTY-User-Key-File-3: ssh-ed25519", "private key"),
    ("AKIA" + made_up(16).upper(), "AWS access key"),
    ("aws_secret_access_key = " + A40, "AWS secret key"),
    ("ghp_" + made_up(36), "GitHub token"),
    ("github_pat_" + A40, "GitHub token"),
    ("glpat-" + made_up(20), "GitLab token"),
    ("sk-ant-api03-" + A40, "Anthropic key"),
    ("sk-proj-" + A40, "OpenAI key"),
    ("sk-" + made_up(48), "OpenAI key"),
    ("sk-or-v1-" + A40, "OpenAI key"),
    ("gsk_" + A40, "Groq key"),
    ("xai-" + A40, "xAI key"),
    ("hf_" + made_up(34), "Hugging Face token"),
    ("r8_" + made_up(37), "Replicate token"),
    ("xoxb-1234567890-" + A32, "Slack token"),
    ("https://hooks.slack.com/services/T00000000/B00000000/" + made_up(24), "Slack webhook"),
    ("https://discord.com/api/webhooks/123456789012345678/" + A40, "Discord webhook"),
    ("123456789:AA" + made_up(33), "Telegram token"),
    ("AIza" + made_up(35), "Google API key"),
    ("GOCSPX-" + made_up(28), "Google OAuth secret"),
    ("ya29." + A40, "Google OAuth token"),
    ("sk_live_" + made_up(24), "Stripe key"),
    ("rk_test_" + made_up(24), "Stripe key"),
    ("whsec_" + A32, "Stripe webhook secret"),
    ("sq0atp-" + made_up(22), "Square token"),
    ("shpat_" + H32, "Shopify token"),
    ("SG." + made_up(22) + "." + made_up(43), "SendGrid key"),
    ("key-" + H32, "Mailgun key"),
    ("SK" + H32, "Twilio key"),
    ("npm_" + made_up(36), "npm token"),
    ("pypi-" + made_up(60), "PyPI token"),
    ("dop_v1_" + H32 * 2, "DigitalOcean token"),
    ("DefaultEndpointsProtocol=https;AccountKey=" + made_up(86) + "==", "Azure storage key"),
    ("AGE-SECRET-KEY-1" + made_up(58).upper(), "age key"),
    ("hvs." + A40, "Vault token"),
    ("pplx-" + A40, "model provider's key"),
    ("nvapi-" + A40, "model provider's key"),
    ("ab1" + "8Q~" + made_up(34), "Azure secret"),
    ("Cookie: theme=dark; session_id=" + A32, "session cookie"),
    ("curl -H 'X: y' # Bearer " + A40, "authorization header"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + A32, "JSON web token"),
    ("postgres://admin:s3cr3t99@db.local/shop", "connection string with a password"),
    ("redis://:hunter22@localhost:6379", "connection string with a password"),
    ("Authorization: Bearer " + A32, "authorization header"),
    ("authorization: Basic dXNlcjpodW50ZXIy", "authorization header"),
    ("M" + made_up(25) + "." + made_up(6) + "." + made_up(38), "Discord token"),
    ("dapi" + H32, "Databricks token"),
    ("lin_api_" + A40, "Linear key"),
    ("machine repo.example login deploy password " + made_up(12), "login with its password"),
    ("wifi password for the lab: blueberry-Ferry-42", "password"),
    ("The root password of db-1 is correct-Horse7battery", "password"),
    ("account AC5f, auth token " + H32, "key or token"),
    ("password=hunter2", "password"),
    ("DB_PASSWORD=correcthorse", "password"),
    ('"password": "hunter2!"', "password"),
    ("the admin password is hunter22", "password"),
    ("Passwort: geheim123", "password"),
    ("пароль: qwerty123", "password"),
    ("密码：abc12345", "password"),
    ("API_KEY=abcdef0123456789", "key or token"),
    ("the access token is 8f3a9b2c1d4e5f60718293", "key or token"),
    ("client_secret: 0a1b2c3d4e5f6071", "key or token"),
]

ORDINARY = [
    "the api key is read from the environment variable OPENAI_API_KEY",
    "API key = ${OPENAI_KEY}",
    "password=$DB_PASSWORD and token=<your token>",
    "password: required field, 12 characters",
    "password: at least 12 characters",
    "the password is hashed with bcrypt cost 12",
    "The password is stored in Vault",
    "passwords are never logged",
    "password reset flow: POST /reset",
    "pwd is /srv/shop",
    "postgres://localhost:5432/db",
    "postgres://user:password@localhost/db",
    "postgres://$USER:$PASS@localhost/db",
    "http://localhost:8080/a@b",
    "tokens are 6 characters",
    "max_tokens: 24000 per request",
    "token: see docs",
    "token = os.environ['X']",
    "tokenizer=porter unicode61",
    "csrf token: X-CSRF-Token-V2 header",
    "secret key: rotated in 2026-01",
    "the secret is rotated every 90 days",
    "use sk-learn-contrib-package-names for clustering",
    "git commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "the public key begins with -----BEGIN PUBLIC KEY-----",
    "checkout retries in the queue, at most 3 times, 500 ms apart",
    "SK is the sort key, PK the partition key",
]


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
@pytest.mark.parametrize("around", ["{}", "we use {} in staging", "x='{}'"])
def test_a_secret_is_recognised_wherever_it_stands(secret, kind, around):
    assert secret_kind(around.format(secret)) == kind


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_sentence_is_no_secret(text):
    assert secret_kind(text) is None


def test_every_kind_has_an_example():
    assert {kind for _, kind in SECRETS} == set(KINDS)
    assert len(KINDS) >= 15


@given(st.text(max_size=500))
def test_any_text_can_be_scanned(text):
    assert secret_kind(text) in (None, *KINDS)


@pytest.mark.parametrize(
    "unit",
    ["a", "password ", "eyJ", "://", "token=", "aws secret ", "sk-", "-----BEGIN ", "1", "a1", ":@/", "xox"],
)
def test_an_adversarial_text_is_scanned_to_its_end(unit):
    """A pattern that went back and forth over the text would not come back from 200,000 characters."""
    assert secret_kind(unit * (200_000 // len(unit)) + " ghp_" + A40) == "GitHub token"


@pytest.mark.parametrize(("secret", "kind"), SECRETS)
def test_a_masked_text_says_what_was_there_and_keeps_what_stands_around_it(secret, kind):
    told = masked(f"before {secret} after")
    assert told.startswith("before ") and told.endswith("after")
    assert f"[{kind}]" in told
    assert secret_kind(told) is None
    assert secret not in told


def test_the_whole_of_a_private_key_is_masked_however_it_is_written():
    body = "\n".join([made_up(64)] * 3)
    pem = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    assert masked(f"a {pem} b") == "a [private key] b"
    assert masked(pem.replace("\n", "\\n") + "!") == "[private key]!"
    assert made_up(64) not in masked(pem[:150])


def test_what_names_a_secret_stays_readable():
    assert masked("DB=postgres://admin:s3cr3t99@db.local/shop") == (
        "DB=postgres://admin:[connection string with a password]@db.local/shop"
    )
    assert masked("set PASSWORD=hunter22 first") == "set PASSWORD=[password] first"


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_sentence_is_masked_nowhere(text):
    assert masked(text) == text


@given(
    st.lists(st.sampled_from([secret for secret, _ in SECRETS] + ["x", " ", "\n", "key: ", "-----END "]), max_size=5)
)
def test_masking_again_changes_nothing(pieces):
    once = masked("".join(pieces))
    assert masked(once) == once
    assert secret_kind(once) is None
