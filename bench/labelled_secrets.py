"""Measure the secret filter: `python -m bench.labelled_secrets`.

Question: how many secrets does the filter remove completely, and how many harmless lines does it change?
Data: made-up secrets in the forms that their issuers publish, each written in the ways people write them
    down; harmless lines: hashes, ids, pictures, logs and settings that are made up, code of the standard
    library of Python and, if the shared data is there, prose.
Seed: 1. Another seed gives other secrets, and `--mutated` writes every other text differently (other case of
    the name, spaces, quotes and separators).
How: a secret counts as found if no eight of its characters in a row are left in the redacted text. A harmless
    line counts as a false alarm if the filter finds anything in it; the lines are also searched in pages of
    40. `HELD_OUT` has the ways of writing that were not looked at while the rules were made, and
    `FURTHER` those that were written afterwards: at the first look, four of them needed a change.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import re
import sysconfig
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from bench.data import SHARED
from engine.commands.secrets.builtin_detectors import is_card
from engine.commands.secrets.policy import SecretsPolicy

LEFT_CHARS: Final = 8
"""A secret is not found if this many of its characters in a row are left."""

PAGE_LINES: Final = 40

ALPHABETS: Final = {
    "9": "0123456789",
    "h": "0123456789abcdef",
    "a": "abcdefghijklmnopqrstuvwxyz",
    "A": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "2": "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
    "L": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "k": "abcdefghijklmnopqrstuvwxyz0123456789",
    "U": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "w": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
    "b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "u": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
    "p": "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789!#%&*+-.=?@^_",
    "B": "023456789acdefghjklmnpqrstuvwxyz".upper(),
}


def drawn(shape: str, random: Random) -> str:
    """Return a text of this shape: `<w36>` stands for 36 characters of the alphabet `w`."""
    return re.sub(r"<(.)(\d+)>", lambda one: "".join(random.choices(ALPHABETS[one[1]], k=int(one[2]))), shape)


class Kind(NamedTuple):
    """One kind of secret, and how to write it down."""

    label: str
    make: str | Callable[[Random], str]
    """A shape, or a function that draws a secret."""
    name: str
    """The name of the secret in settings and sentences."""
    frame: str = "{}"
    """What always stands around such a secret."""
    named: bool = False
    """True if only its name tells that it is a secret."""

    def draw(self, random: Random) -> str:
        """Return a made-up secret of this kind."""
        return drawn(self.make, random) if isinstance(self.make, str) else self.make(random)


def _pem(label: str, random: Random) -> str:
    body = "\n".join(textwrap.wrap("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + drawn("<b900>", random), 64))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def _body(random: Random) -> str:
    head = random.choice(
        ["MIIEpAIBAAKCAQEA", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "b3BlbnNzaC1rZXktdjEA", "MHcCAQEEI"]
    )
    return "\n".join(textwrap.wrap(head + drawn("<b400>", random), 64))


def _jwt(random: Random) -> str:
    parts = ('{"alg":"HS256","typ":"JWT"}', json.dumps({"sub": drawn("<910>", random), "name": "nobody"}))
    coded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, drawn("<u43>", random)])


def _basic(random: Random) -> str:
    return base64.b64encode(drawn("ann:<w14>", random).encode()).decode()


def _card(random: Random) -> str:
    while True:
        number = drawn("4<915>", random)
        if is_card(number):
            return random.choice(
                [number, " ".join(textwrap.wrap(number, 4)), "-".join(textwrap.wrap(number, 4))]
            )


def _iban(random: Random) -> str:
    account = drawn("<918>", random)
    return f"DE{98 - int(account + '131400') % 97:02d}{account}"


def _phrase(random: Random) -> str:
    words = random.sample(["plum", "Kettle", "river", "Anchor", "tulip", "Magnet", "copper", "Saddle"], 2)
    return random.choice(["-", "_", "!", "."]).join([*words, drawn("<93>", random)])


KINDS: Final = (
    Kind("AWS key id", "AKIA<216>", "aws_access_key_id"),
    Kind("AWS key id without a digit", "AKIA<A16>", "aws_access_key_id"),
    Kind("AWS session key id", "ASIA<216>", "aws_access_key_id"),
    Kind("Google API key", "AIza<u35>", "maps_key"),
    Kind("Google client secret", "GOCSPX-<u28>", "client_secret"),
    Kind("Google access token", "ya29.<u120>", "access_token"),
    Kind("GitHub token", "ghp_<w36>", "github_token"),
    Kind("GitHub app token", "ghs_<w36>", "github_token"),
    Kind("GitHub fine-grained token", "github_pat_<w22>_<w59>", "github_token"),
    Kind("GitLab token", "glpat-<u20>", "gitlab_token"),
    Kind("GitLab runner token", "GR1348941<u20>", "registration"),
    Kind("Slack bot token", "xoxb-<912>-<913>-<w24>", "slack_token"),
    Kind("Slack app token", "xapp-1-A<U10>-<913>-<h64>", "slack_app"),
    Kind("Slack webhook", "T<U10>/B<U10>/<w24>", "slack_hook", "https://hooks.slack.com/services/{}"),
    Kind("Stripe key", "sk_live_<w24>", "stripe"),
    Kind("Stripe webhook secret", "whsec_<w32>", "webhook_secret"),
    Kind("OpenAI project key", "sk-proj-<u74>T3BlbkFJ<u74>", "openai_api_key"),
    Kind("OpenAI key", "sk-<w20>T3BlbkFJ<w20>", "openai_api_key"),
    Kind("Anthropic key", "sk-ant-api03-<u93>AA", "anthropic_api_key"),
    Kind("memroot token", "mr_<u43>", "memroot"),
    Kind("Hugging Face token", "hf_<L34>", "hf_token"),
    Kind("SendGrid key", "SG.<u22>.<u43>", "sendgrid"),
    Kind("Telegram bot token", "<910>:AA<u33>", "bot"),
    Kind("PyPI token", "pypi-AgEIcHlwaS5vcmc<u120>", "pypi"),
    Kind("npm token", "npm_<w36>", "npm"),
    Kind("Docker token", "dckr_pat_<u27>", "docker"),
    Kind("DigitalOcean token", "dop_v1_<h64>", "do_pat"),
    Kind("Databricks token", "dapi<h32>", "databricks"),
    Kind("Doppler token", "dp.pt.<w43>", "doppler"),
    Kind("Shopify token", "shpat_<h32>", "shopify"),
    Kind("Square token", "sq0atp-<u22>", "square"),
    Kind("Sentry token", "sntryu_<h64>", "sentry"),
    Kind("Grafana token", "glsa_<w32>_<h8>", "grafana"),
    Kind("Vault token", "hvs.<u95>", "vault"),
    Kind("Terraform token", "<w14>.atlasv1.<u64>", "terraform"),
    Kind("Linear key", "lin_api_<w40>", "linear"),
    Kind("Mailchimp key", "<h32>-us12", "mailchimp"),
    Kind("Mailgun key", "key-<h32>", "mailgun"),
    Kind("New Relic key", "NRAK-<U27>", "newrelic"),
    Kind("Notion token", "ntn_<911><w35>", "notion"),
    Kind("Perplexity key", "pplx-<w48>", "perplexity"),
    Kind("PlanetScale password", "pscale_pw_<u43>", "planetscale"),
    Kind("Postman key", "PMAK-<h24>-<h34>", "postman"),
    Kind("Pulumi token", "pul-<h40>", "pulumi"),
    Kind("RubyGems key", "rubygems_<h48>", "rubygems"),
    Kind("Brevo key", "xkeysib-<h64>-<w16>", "brevo"),
    Kind("Twilio key", "SK<h32>", "twilio"),
    Kind("Airtable token", "pat<w14>.<h64>", "airtable"),
    Kind("Atlassian token", "ATATT3<u186>", "jira"),
    Kind("Artifactory key", "AKCp<w69>", "artifactory"),
    Kind("Alibaba key id", "LTAI<w20>", "alibaba"),
    Kind("Bedrock key", "ABSK<b120>=", "bedrock"),
    Kind("1Password token", "ops_eyJ<b300>", "vault"),
    Kind("Azure client secret", "<w3>8Q~<u34>", "azure"),
    Kind("Buildkite token", "bkua_<h40>", "buildkite"),
    Kind("Discord webhook", "<u68>", "discord", "https://discord.com/api/webhooks/123456789012345678/{}"),
    Kind("Dynatrace token", "dt0c01.<U24>.<U64>", "dynatrace"),
    Kind("EasyPost key", "EZAK<w54>", "easypost"),
    Kind("Figma token", "figd_<u40>", "figma"),
    Kind("Fly token", "fo1_<u43>", "fly"),
    Kind("Groq key", "gsk_<w52>", "groq"),
    Kind("Heroku key", "HRKU-AA<u58>", "heroku"),
    Kind("NuGet key", "oy2<k43>", "nuget"),
    Kind("OpenShift token", "sha256~<u43>", "openshift"),
    Kind("Pinecone key", "pcsk_<w6>_<w62>", "pinecone"),
    Kind("Replicate token", "r8_<w37>", "replicate"),
    Kind("Shippo key", "shippo_live_<h40>", "shippo"),
    Kind("Supabase key", "sbp_<h40>", "supabase"),
    Kind("Tailscale key", "tskey-auth-<w12>-<w32>", "tailscale"),
    Kind("Typeform token", "tfp_<w44>_<w14>", "typeform"),
    Kind("xAI key", "xai-<w80>", "xai"),
    Kind(
        "Teams webhook",
        "<h8>-<h4>-<h4>-<h4>-<h12>@<h8>-<h4>-<h4>-<h4>-<h12>/IncomingWebhook/<h32>",
        "teams",
        "https://ours.webhook.office.com/webhookb2/{}",
    ),
    Kind("age key", "AGE-SECRET-KEY-1<B58>", "identity"),
    Kind("JSON Web Token", _jwt, "session"),
    Kind("AWS secret key", "<b40>", "aws_secret_access_key", named=True),
    Kind("password of 14 letters and digits", "<w14>", "db_password", named=True),
    Kind("password with symbols", "<p14>", "password", named=True),
    Kind("password of words", _phrase, "admin_password", named=True),
    Kind("client secret", "<w32>", "client_secret", named=True),
    Kind("API key in hex", "<h32>", "api_key", named=True),
    Kind("API key as UUID", "<h8>-<h4>-<h4>-<h4>-<h12>", "heroku_api_key", named=True),
    Kind("auth token", "<w40>", "auth_token", named=True),
    Kind("encryption key", "<b43>=", "encryption_key", named=True),
    Kind("private key", lambda random: _pem("RSA PRIVATE KEY", random), "pem"),
    Kind("body of a private key", _body, "pem"),
    Kind("bearer token", "<u40>", "header", "Authorization: Bearer {}"),
    Kind("basic authentication", _basic, "header", "Authorization: Basic {}"),
    Kind("password of a URL", "<w14>", "database", "postgres://app:{}@db.example.org/main"),
    Kind(
        "Azure account key",
        "<b86>==",
        "storage",
        "DefaultEndpointsProtocol=https;AccountName=ours;AccountKey={};EndpointSuffix=core.windows.net",
    ),
    Kind("connection string", "<w14>", "sql", "Server=db;User Id=app;Password={};Encrypt=true"),
    Kind("curl -u", "<w12>", "command", "curl -s -u ann:{} https://api.example.org/v1"),
    Kind("mysql -p", "<w12>", "command", "mysql -u root -p{} shop"),
    Kind("netrc", "<w12>", "netrc", "machine api.example.org login ann password {}"),
    Kind("payment card", _card, "card", "number {}"),
    Kind("IBAN", _iban, "account", "number {}"),
)

Form = Callable[[Kind, str, str], str]
"""A function of the kind, of its name, and of the secret with its frame. It returns a text."""


def _words(name: str) -> str:
    return name.replace("_", " ")


def _told(kind: Kind, name: str, value: str) -> str:
    return f"{name}: {value}" if kind.named else value


def _halved(value: str, joint: str) -> str:
    at = len(value) // 2
    return value[:at] + joint + value[at:]


def _split(kind: Kind, name: str, value: str) -> str:
    if kind.frame != "{}" or "\n" in value:
        return "\n".join(f"> {line}" for line in value.split("\n"))
    if kind.named:
        return f"{name.upper()}={_halved(value, chr(10))}\n" if len(value) > 24 else f"{name}:\n  {value}\n"
    return f"Ours:\n{_halved(value, chr(10))}\n"


def _url(kind: Kind, name: str, value: str) -> str:
    if " " in value or "\n" in value or "://" in value:
        return f"GET /v1/items?page=2 {_told(kind, name, value)}"
    return f"GET https://api.example.org/v1/items?page=2&{name}={value}&limit=3"


def _option(kind: Kind, name: str, value: str) -> str:
    quoted = value if not re.search(r"[\s;&*#?!]", value) else f"'{value}'"
    return f"deploy --verbose --{name.replace('_', '-')} {quoted} --dry-run"


def _option_with_sign(kind: Kind, name: str, value: str) -> str:
    quoted = value if not re.search(r"[\s;&*#?!]", value) else f'"{value}"'
    return f"deploy --verbose --{name.replace('_', '-')}={quoted}"


FORMS: Final[dict[str, Form]] = {
    "plain": _told,
    "environment": lambda kind, name, value: f"export {name.upper()}={value}",
    "YAML": lambda kind, name, value: f"service:\n  port: 8080\n  {name}: {value}\n",
    "JSON": lambda kind, name, value: json.dumps({"user": "ann", name: value, "port": 8080}),
    "XML": lambda kind, name, value: f"<service><{name}>{value}</{name}></service>",
    "code of Markdown": lambda kind, name, value: f"- {_words(name)}: `{value}` (ours)",
    "bold of Markdown": lambda kind, name, value: f"**{_words(name)}:** **{value}**",
    "table of Markdown": lambda kind, name, value: f"| user | ann |\n| {_words(name)} | {value} |\n",
    "option": _option,
    "option with a sign": _option_with_sign,
    "URL": _url,
    "divided": _split,
    "sentence": lambda kind, name, value: f"Ann said that our {_words(name)} is {value}, and left.",
}

HELD_OUT: Final[dict[str, Form]] = {
    "table of HTML": lambda kind, name, value: f"<tr><td>{_words(name)}</td><td>{value}</td></tr>",
    "JSON in a log": lambda kind, name, value: (
        "level=info body=" + json.dumps(json.dumps({"id": 7, name: value}))
    ),
    "ENV of Docker": lambda kind, name, value: f"FROM debian\nENV {name.upper()} {value}\nRUN make\n",
    "call": lambda kind, name, value: f"client = connect(host, {name}='{value}', retries=3)",
    "chat": lambda kind, name, value: f"ann> what is the {_words(name)}?\nbob> {_words(name)} = {value} :)",
}


def _camel(name: str) -> str:
    first, *words = name.split("_")
    return first + "".join(map(str.title, words))


FURTHER: Final[dict[str, Form]] = {
    "Terraform": lambda kind, name, value: f'resource "a" "b" {{\n  {name}   = "{value}"\n  size = 3\n}}',
    "PowerShell": lambda kind, name, value: f'$env:{name.upper()} = "{value}"',
    "properties": lambda kind, name, value: f"spring.datasource.{name.replace('_', '-')}={value}\n",
    "TOML": lambda kind, name, value: f"[auth]\n{name} = '{value}'\n",
    "Java": lambda kind, name, value: f'private static final String {name.upper()} = "{value}";',
    "Go": lambda kind, name, value: f'cfg := Config{{{name.title().replace("_", "")}: "{value}", Port: 1}}',
    "JSON with capitals": lambda kind, name, value: json.dumps({_camel(name): value}, indent=2),
    "setter": lambda kind, name, value: f'client.set{name.title().replace("_", "")}("{value}")',
    "comment": lambda kind, name, value: f"# {_words(name)}: {value}  (do not share)",
    "header": lambda kind, name, value: f"X-{name.title().replace('_', '-')}: {value}\r\nAccept: */*\r\n",
    "mail": lambda kind, name, value: f"Hi Bob,\n\nhere is the {_words(name)}:\n\n{value}\n\nBest, Ann",
    "list": lambda kind, name, value: f"- user: ann\n- {_words(name)} - {value}\n",
    "German": lambda kind, name, value: f"Das {_words(name)} lautet {value} und gilt ab morgen.",
    "INI of Windows": lambda kind, name, value: f"[x]\r\n{name}={value}\r\n",
    "dictionary": lambda kind, name, value: f"settings['{name}'] = '{value}'",
    "arrow": lambda kind, name, value: f"{name} → {value}",
    "block of YAML": lambda kind, name, value: f"{name}: >-\n  {value}\nnext: 1",
    "CSV": lambda kind, name, value: f"user,{name},host\nann,{value},a.org\n",
}


def mutated(text: str, secret: str, name: str, random: Random) -> str:
    """Return the text with its name in another style, and with another space or sign after it."""
    half = len(secret) // 2
    for part, mark in ((secret, "\0"), (secret[:half], "\1"), (secret[half:], "\2")):
        text = text.replace(part, mark)
    style = random.choice([str.upper, str.title, lambda one: one.title().replace("_", ""), str.lower])
    words = random.choice([name, _words(name), name.replace("_", "-"), "my_" + name])
    text = re.sub(re.escape(name), lambda _: style(words), text, flags=re.IGNORECASE)
    if random.random() < 0.5:
        text = re.sub(r"(?<=[\w\"]): (?=[\"`\0]?)", random.choice([":", " : ", ":   ", " = "]), text, count=1)
    text = text.replace("\0", secret).replace("\1", secret[:half]).replace("\2", secret[half:])
    return random.choice(["", "\t", "> ", "1. ", "# "]) + text


class Labelled(NamedTuple):
    """A text with one secret."""

    kind: str
    form: str
    secret: str
    text: str


def labelled(seed: int, forms: dict[str, Form] = FORMS, *, mutate: bool = False) -> Iterator[Labelled]:
    """Yield a secret of each kind in each of `forms`. With `mutate`, every other text is changed."""
    for kind in KINDS:
        for number, (form, write) in enumerate(forms.items()):
            random = Random(f"{seed} {kind.label} {form}")
            secret = kind.draw(random)
            text = write(kind, kind.name, kind.frame.format(secret))
            if mutate and (number + seed) % 2:
                text = mutated(text, secret, kind.name, random)
            yield Labelled(kind.label, form, secret, text)


def is_left(one: Labelled, text: str) -> bool:
    """Return True if `LEFT_CHARS` characters of the secret in a row are in the redacted `text`."""
    half = len(one.secret) // 2
    known = one.text + one.kind
    for part in (one.secret, one.secret[:half], one.secret[half:]):
        known = known.replace(part, "")
    known = known.lower()
    text = re.sub(r"\[REDACTED:[a-z0-9-]+\]", "", text)
    for line in one.secret.split("\n"):
        pieces = [line[at : at + LEFT_CHARS] for at in range(len(line) - LEFT_CHARS + 1)]
        if any(piece in text and piece.lower() not in known for piece in pieces):
            return True
    return False


def _hex(random: Random, size: int) -> str:
    return drawn(f"<h{size}>", random)


def _uuid(random: Random) -> str:
    return drawn("<h8>-<h4>-4<h3>-a<h3>-<h12>", random)


def _picture(random: Random, size: int) -> str:
    return base64.b64encode(random.randbytes(size)).decode()


HASHES: Final[tuple[Callable[[Random], str], ...]] = (
    lambda random: f"sha256:{_hex(random, 64)}",
    lambda random: f"commit {_hex(random, 40)}",
    lambda random: f"{_hex(random, 64)}  dist/memroot-{random.randint(0, 9)}.tar.gz",
    lambda random: f"{_hex(random, 7)} Merge pull request #{random.randint(1, 900)} from ann/fix",
    lambda random: f'"integrity": "sha512-{_picture(random, 64)}",',
    lambda random: f'    {{ url = "https://files.example.org/x.whl", hash = "sha256:{_hex(random, 64)}" }},',
    lambda random: f'ETag: "{_hex(random, 32)}"',
    lambda random: f"md5 = {hashlib.md5(random.randbytes(4), usedforsecurity=False).hexdigest()}",
    lambda random: f"cache key {_hex(random, 40)} was not found",
    lambda random: f"    image: registry.example.org/app@sha256:{_hex(random, 64)}",
    lambda random: f"root {_hex(random, 64)} at size {random.randint(1, 10**6)}",
    lambda random: f"SHA256:{_picture(random, 32)[:43]} ann@laptop (ED25519)",
    lambda random: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_picture(random, 32)[:43]} ann@laptop",
    lambda random: f"index {_hex(random, 9)}..{_hex(random, 9)} 100644",
    lambda random: f"const KEY_ORDER = 0x{_hex(random, 16)};",
)
IDS: Final[tuple[Callable[[Random], str], ...]] = (
    _uuid,
    lambda random: f"id: {_uuid(random)}",
    lambda random: f"request_id={_uuid(random)} took {random.randint(1, 900)} ms",
    lambda random: f"https://app.example.org/items/{_uuid(random)}?tab=2",
    lambda random: f'{{"id": "{_uuid(random)}", "parent": "{_uuid(random)}"}}',
    lambda random: f"| {_uuid(random)} | open | {random.randint(1, 99)} |",
    lambda random: f"the primary key of the row is {_uuid(random)}",
    lambda random: (
        f"order {drawn('<916>', random)[:12]} of 2026-0{random.randint(1, 9)}-1{random.randint(0, 9)}"
    ),
    lambda random: f"trace {_hex(random, 32)} span {_hex(random, 16)}",
    lambda random: f"01{drawn('<B24>', random)} is a ULID",
)
PICTURES: Final[tuple[Callable[[Random], str], ...]] = (
    lambda random: f"![x](data:image/png;base64,iVBORw0KGgo{_picture(random, random.randint(60, 600))})",
    lambda random: f'<img src="data:image/jpeg;base64,/9j/4AAQ{_picture(random, 300)}">',
    lambda random: _picture(random, 57),
    lambda random: f"src: url(data:font/woff2;base64,d09GMg{_picture(random, 240)})",
    lambda random: f"MII{random.choice('BCDEF')}{drawn('<b2>', random)}CCA{drawn('<b57>', random)}",
)
SETTINGS: Final = (
    "password = os.environ['DB_PASSWORD_{n}']", "password: {{{{ vault.db_password_{n} }}}}",
    "password=$DB_PASSWORD{n}", "password: ********", "PASSWORD=${{DB_PASSWORD_{n}:?unset}}",
    "token = self.tokens[{n}]", "secret_key = settings.SECRET_KEY_{n}", "api_key: <your key {n} here>",
    "password: change-me-{n}", "max_tokens = {n}", "tokens: {n}00", "token_count={n}, tokenizer=cl100k_base",
    "| password | the password of user {n} |", "| token | text | at most {n} characters |",
    "--password-file /run/secrets/db_{n}", "--token-budget {n}000", "api_key=production20{n}",
    "secretKeyRef: {{name: db-{n}, key: password}}", "The password is required since version {n}.2.1.",
    "def check_password(user: User{n}, password: str | None = None):", "primary_key=True, key: 0x1f2e{n}",
    "if token.kind == TokenKind.NUMBER_{n}:", "this.password = options.password{n};", "key = value{n}",
    "password: string; passwordHash{n}: string;", "<password>{{{{password{n}}}}}</password>",
    "const token = await getAccessToken(user{n});", "auth_token = request.headers.get('X-Token-{n}')",
    "secret: 2026-11-2{n}T10:11:12", "password_reset_url: https://example.org/reset/{n}",
    "pass: {n} of {n} tests passed, pass rate 9{n}.5%", "mysql -u root -p shop < dump{n}.sql",
    "curl -u $USER:$TOKEN{n} https://api.example.org", "curl -u user:password https://api.example.org/{n}",
    "export API_KEY=$(cat /run/secrets/api_key_{n})", "access_token_lifetime: {n}00s",
    "Access keys: see section {n}.4.2.", "password_min_length: 1{n}", "the secret of kettle {n} is patience",
    "credentials: ./service-account-{n}.json", "token_type: bearer, expires_in: 36{n}0",
    "client_secret_basic, client_secret_post and private_key_jwt are methods of RFC 67{n}",
    "api_key_header = APIKeyHeader(name='X-API-Key-{n}')", "<input type='password' name='password{n}'>",
    "- **Token**: a word or sign; **{n}** on average", "password = getpass.getpass('Password {n}: ')",
    "machine learning, login page and password field number {n}", "sk-learn{n}, hf_hub_download, npm_config",
    "keyboard_shortcut: ctrl-shift-{n}", "secrets.token_urlsafe(3{n})", "my_key-value-store-{n} is one",
    "password: str = Field(min_length={n})", "-p {n}080:8080", "api_key: ${{{{ secrets.API_KEY_{n} }}}}",
    "SECRET_KEY = config('SECRET_KEY_{n}')", "token: Optional[Token{n}] = None",
    "pwd: /home/ann/project{n}", "PWD=/srv/app{n}/current", "key: user/{n}/avatar-128x128.png",
    "TOKEN_URL=https://login.example.org/oauth{n}/token",
)  # fmt: skip
LOGS: Final = (
    "2026-11-2<91>T10:<92>:12.<96>Z INFO http.server request_id=<h16> GET /v1/items/<93> 200",
    '10.0.<92>.7 - ann [28/Nov/2026] "GET /static/app.<h8>.js HTTP/1.1" 200 <95> "-" "Mozilla/5.0"',
    "Nov 28 10:11:12 host sshd[<94>]: Failed password for ann from 10.0.0.7 port <95>",
    '{"level":"warn","ts":17000<95>.12,"token":"expired","user":"u<92>"}',
    "pod/app-<h10>-<k5>   1/1   Running   0   <92>d",
    "[<95>.<96>] usb 1-1: SerialNumber: <U12>",
    "E   AssertionError: token <92> != <92> at tokens.py:<93>",
    "worker-<91> secret rotation finished in <93> ms, key version <92>",
    "0x00007f<h10>  <h8> <h8> <h8>",
)

MODULES: Final = (
    *("urllib/request.py", "http/client.py", "http/cookiejar.py", "smtplib.py", "imaplib.py", "ftplib.py"),
    *("netrc.py", "hmac.py", "secrets.py", "getpass.py", "ssl.py", "tokenize.py", "uuid.py", "base64.py"),
    *("email/_header_value_parser.py", "urllib/parse.py", "crypt.py", "hashlib.py", "configparser.py"),
)
"""Modules of the standard library that speak of passwords, tokens, keys and hashes."""


def code() -> list[str]:
    """Return the lines of `MODULES`."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = [folder / name for name in MODULES if (folder / name).exists()]
    return [line for file in files for line in file.read_text("utf-8").splitlines() if line.strip()]


def prose() -> list[str]:
    """Return lines of the shared data, or none if it is missing."""
    lines: list[str] = []
    for name in ("assistant-chats", "cisi", "time"):
        file = SHARED / "data" / name / "corpus.jsonl"
        if not file.exists():
            print(f"skipped: {file} is missing (set MEMROOT_SHARED)")
            continue
        for row in map(json.loads, file.read_text("utf-8").splitlines()):
            lines += [line for line in str(row["text"]).splitlines() if line.strip()]
    return lines


def harmless(seed: int = 1, share: int = 1) -> dict[str, list[str]]:
    """Return harmless lines by group, 20,000 together. `share` divides their number."""
    random = Random(seed)

    def made(count: int, ways: Sequence[Callable[[Random], str]]) -> list[str]:
        return [ways[number % len(ways)](random) for number in range(count // share)]

    def some(count: int, lines: list[str]) -> list[str]:
        return random.sample(lines, min(count // share, len(lines)))

    settings = [SETTINGS[at % len(SETTINGS)].format(n=random.randint(1, 9)) for at in range(2_400 // share)]
    return {
        "hashes": made(2_500, HASHES),
        "ids": made(2_000, IDS),
        "pictures and keys in base64": made(1_000, PICTURES),
        "settings and code without secrets": settings,
        "logs": [drawn(LOGS[at % len(LOGS)], random) for at in range(2_100 // share)],
        "code of the standard library": some(5_000, code()),
        "prose": some(5_000, prose()),
    }


def measure_recall(policy: SecretsPolicy, texts: Iterator[Labelled], show: int) -> None:
    """Print the recall of each kind with a mistake, of each form, and of all; and `show` mistakes."""
    found, every = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for one in texts:
        right = not is_left(one, policy.clean(one.text)[0])
        for row in (("kind", one.kind), ("form", one.form), ("all", "together")):
            every[row] += 1
            found[row] += right
        if not right and show > 0:
            show -= 1
            print(f"missed: {one.kind}, {one.form}: {one.text[:300]!r}")
    for (part, name), number in every.items():
        if part != "kind" or found[part, name] < number:
            share = found[part, name] / number
            print(f"{part} {name:36} {found[part, name]:6,} of {number:6,}  {share:.4f}")


def measure_alarms(policy: SecretsPolicy, groups: dict[str, list[str]], show: int) -> None:
    """Print the false alarms of each group, and `show` of them."""
    for group, lines in groups.items():
        wrong = [(line, secret) for line in lines for secret in policy.find(line)[:1]]
        pages = ["\n".join(lines[at : at + PAGE_LINES]) for at in range(0, len(lines), PAGE_LINES)]
        in_pages = sum(len(policy.find(page)) for page in pages)
        print(f"harmless {group:34} {len(lines):6,} lines: {len(wrong)} false alarms; {in_pages} in pages")
        for line, secret in wrong[:show]:
            print(f"  {secret.kind}: {line[secret.start : secret.end]!r} in {line[:200]!r}")


def measure_time(policy: SecretsPolicy, groups: dict[str, list[str]]) -> None:
    """Print the processor time for the harmless lines of each group, ten lines at a time."""
    for group, lines in groups.items():
        texts = ["\n".join(lines[at : at + 10]) for at in range(0, len(lines), 10)]
        begun = time.process_time()
        for text in texts:
            policy.find(text)
        spent = (time.process_time() - begun) / max(1, sum(map(len, texts)))
        print(f"time     {group:34} {spent * 1e9:4.0f} µs for 1,000 characters")


def main() -> None:
    """Print the recall, the false alarms and the time."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5, help="secrets of each kind in each form")
    parser.add_argument("--mutated", action="store_true", help="change every other text")
    parser.add_argument("--forms", choices=["usual", "held-out", "further"], default="usual")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print N mistakes")
    options = parser.parse_args()
    policy = SecretsPolicy()
    forms = {"usual": FORMS, "held-out": HELD_OUT, "further": FURTHER}[options.forms]
    seeds = [options.seed * 1_000 + at for at in range(options.rounds)]
    texts = (one for seed in seeds for one in labelled(seed, forms, mutate=options.mutated))
    measure_recall(policy, texts, options.show)
    groups = harmless(options.seed)
    measure_alarms(policy, groups, options.show)
    measure_time(policy, groups)


if __name__ == "__main__":
    main()
