"""One made-up secret of each kind, assembled here so that no file contains a complete one."""

from __future__ import annotations

import base64
import hashlib

ALNUM = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3dE5fG7hI9jK1"


def random_like(text: str, size: int) -> str:
    """Return letters and digits that depend on `text` alone."""
    raw = hashlib.shake_256(text.encode()).digest(size * 2)
    return "".join(character for character in base64.b64encode(raw).decode() if character.isalnum())[:size]


def pem(label: str = "RSA PRIVATE KEY", lines: int = 6) -> str:
    """Return a block in the form of a private key."""
    body = "\n".join(random_like(f"{label}{line}", 64) for line in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


def jwt() -> str:
    """Return three parts, the first two of them JSON."""
    parts = ('{"alg":"HS256","typ":"JWT"}', '{"sub":"1234567890","name":"nobody"}')
    coded = [base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in parts]
    return ".".join([*coded, random_like("jwt", 43)])


SAMPLES: dict[str, list[tuple[str, str]]] = {
    "aws-key": [
        ("the key {} is ours", "AKIA" + "Q4ZX7N2WT5BV8MRC"),
        ("{}", "ASIA" + "Q4ZX7N2WT5BV8MRC"),
        ("{}", "AKIA" + "QZXNWTBVMRCPLKJH"),
    ],
    "github-token": [
        ("export GH={}", "gh" + "p_" + random_like("gh", 36)),
        ("{}.", "github" + "_pat_" + random_like("pat", 22) + "_" + random_like("pat2", 59)),
    ],
    "gitlab-token": [("({})", "gl" + "pat-" + random_like("gl", 20))],
    "slack-token": [
        ("slack {} here", "xo" + "xb-1234567890-1234567890-" + random_like("slack", 24)),
        ("https://hooks.slack" + ".com/services/{}", "T01234567/B01234567/" + random_like("hook", 24)),
    ],
    "memroot-token": [
        ("the token of the laptop is {}.", "mr" + "_" + random_like("mr", 43)),
    ],
    "anthropic-key": [
        ("key: {}", "sk-" + "ant-api03-" + random_like("ant", 80) + "-" + random_like("a", 6) + "AA")
    ],
    "openai-key": [
        ("use {} for it", "sk-" + "proj-" + random_like("open", 60)),
        ("use {} for it", "sk-" + random_like("open1", 48)),
    ],
    "stripe-key": [
        ("{}", "sk" + "_live_" + random_like("st", 24)),
        ("{}", "rk" + "_test_" + random_like("st", 24)),
    ],
    "google-key": [
        ("maps {}!", "AI" + "za" + random_like("goog", 35)),
        ("{}", "GOC" + "SPX-" + random_like("g", 28)),
    ],
    "jwt": [("cookie={}; path", jwt())],
    "private-key": [
        ("the key:\n{}\nand text after", pem()),
        ("{}", pem("OPENSSH PRIVATE KEY", 20)),
        ("{}", pem("PRIVATE KEY", 3)),
        ("{}", pem("PGP PRIVATE KEY BLOCK", 5)),
        ("Ours: {}", "MII" + "EpAIBAAKCAQEA" + random_like("rsa", 48) + "\n" + random_like("rsa1", 64)),
    ],
    "bearer": [
        ("Authorization: Bearer {}", random_like("bearer", 40)),
        ("curl -H 'bearer {}'", random_like("b", 22)),
    ],
    "basic-auth": [("Authorization: Basic {}", base64.b64encode(b"user:correct horse 9").decode())],
    "url-password": [
        ("postgres://app:{}@db.example.org/x", "s3cr3t-pw"),
        ("see https://me:{}@host/path.", "p@ss:w0rd"),
    ],
    "password": [
        ("password = {}", "hunter2abc"),
        ('"db_password": "{}"', "S3cure pass-9"),
        ("PGPASSWORD={} psql", "kX9-plum-42q"),
        ("aws_secret_access_key = {}", random_like("aws", 38) + "+/"),
        ("api_key: '{}'", random_like("api", 32)),
        ("api_key={}", "x7Kp2mQ9vR4t"),
        ("CLIENT_SECRET={}", random_like("client", 32)),
        ("auth token => {}", random_like("token", 32)),
        ("- password: `{}` (ours)", "kX93plumTq42vR"),
        ("**Password:** **{}**", "kX93plumTq42vR"),
        ("<password>{}</password>", "kX93plumTq42vR"),
        ('<add key="password" value="{}"/>', "kX93plumTq42vR"),
        ("| password | {} |", "kX93plumTq42vR"),
        ("| user | password |\n|---|---|\n| ann | {} |\n", "kX93plumTq42vR"),
        ("user,password\nann,{}\n", "hunter2abc"),
        ("DB_PASSWORD={}", "kXqplumTqvRwZs"),
        ("deploy --password={} --all", "kX93plumTq42vR"),
        ("deploy --password {} --all", "kX93plumTq42vR"),
        ("db:\n  password: {}\n  port: 1\n", "kX93plumTq42vR"),
        ("- name: DB_PASSWORD\n  value: {}\n", "kX93plumTq42vR"),
        ("GET /login?password={}&page=2", "kX93plumTq42vR"),
        ("machine a.org login ann password {}", "kX93plumTq42vR"),
        ("The admin password is {}, as ever.", "kX93plumTq42vR"),
        ("AWS_SECRET_ACCESS_KEY={}", "/wJalr/UtnFEMIqK7MDENGbPxRfiCYq3xmPLEKEY"),
        ("AWS_SECRET_ACCESS_KEY={}\n", "wJalrXUtnFEMIqK7MDEN\nGbPxRfiCYq3xmPLEKEYz"),
        ("heroku_api_key: {}", "01a2b3c4-d5e6-47f8-a9b0-c1d2e3f4a5b6"),
        ("AccountName=ours;AccountKey={};Suffix=x", random_like("azure", 86) + "=="),
    ],
    "command-password": [
        ("curl -s -u ann:{} https://a.org", "kX93plumTq42vR"),
        ("curl --user ann:{} https://a.org", "SordgxMbgqwu"),
        ("mysql -u root -p{} shop", "kX93plumTq42vR"),
        ("sshpass -p '{}' ssh a.org", "kX93plumTq42vR"),
        ("redis-cli -h a.org -a {}", "kX93plumTq42vR"),
        ("docker login -u ann -p {} a.org", "kX93plumTq42vR"),
    ],
    "credit-card": [
        ("card {} exp 12/29", "4111 1111 1111 1111"),
        ("{}", "5500005555555559"),
        ("amex {}", "3782 822463 10005"),
        ("{},", "6011-0009-9013-9424"),
    ],
    "iban": [("pay to {}.", "DE89 3704 0044 0532 0130 00"), ("{} ABC", "GB82WEST12345698765432")],
}
"""Texts with a place for a secret, and the secret, by kind."""

UNUSUAL: dict[str, list[tuple[str, str]]] = {
    "email": [("write to {} soon", "someone.else+tag@mail.example.org")],
    "phone": [("call {} now", "+49 30 1234 5678"), ("{}", "+1 (212) 555-0123")],
}

INNOCENT = (
    "ACCATGGCATTGCAGTCATG is a part of a genome, and ghp_" + "x" * 36 + " stands for a token",
    "curl -u user:password https://a.org, curl -u me:apiToken https://a.org, curl -u $USER:$TOKEN2 https://a.org",
    "docker run -p 127.0.0.1:80:80/tcp, docker compose -p project2024 up",
    "mysql -u root -p shop2024 < dump.sql",
    "private_key: CertificateIssuerPrivateKeyTypes, key: Ed25519PrivateKey | Ed448PrivateKey",
    "tokenizer: gpt-4o-mini-2024-07-18, passed `rfc2822=True1234`, pass --env-dir2024 to it",
    "postgres://user:password@localhost/db stands in a manual",
    "| password | the password of user42 |\n|---|---|\n| token | at most 12 characters |\n",
    "def f(host, password, salt):\n    return {'a1b2c3': 1, 'd4e5f6a7b8': 2, 'x': 3}\n",
    "-----BEGIN CERTIFICATE-----\nMIIDXTCCAkWgAwIBAgIJ" + "AJC1HiIAZAiIMA0GCSqGSIb3DQEBCwUAMEUx\n",
    "call mr_make_the_list_of_all_known_functions_of_the_x now",
    "The kettle is descaled on Mondays.",
    "sha256:" + hashlib.sha256(b"x").hexdigest(),
    "commit " + hashlib.sha1(b"x", usedforsecurity=False).hexdigest(),
    "id 123e4567-e89b-42d3-a456-426614174000, token 123e4567-e89b-42d3-a456-426614174000",
    '"integrity": "sha512-' + base64.b64encode(hashlib.sha512(b"x").digest()).decode() + '"',
    "![x](data:image/png;base64," + base64.b64encode(hashlib.shake_256(b"i").digest(600)).decode() + ")",
    "password = os.environ['DB_PASSWORD_1']",
    "password: {{ vault.db_password_2 }}",
    "password=$DB_PASSWORD1",
    "password: ********",
    "the password is a secret; ask for it",
    "token = self.tokens[12]",
    "secret_key = settings.SECRET_KEY_2024",
    "a bearer of bad news, and bearer instrumentation-of-something",
    "-----BEGIN PRIVATE KEY----- is how such a file begins",
    "http://user@host:8080/path and http://host:8080/a@b",
    "postgres://app:${PASSWORD}@db/x and postgres://app:<password>@db/x",
    "order 1234567890123456 and 4111111111111112 and 2026-11-22 10:11:12.123456",
    "1700000000000000 µs, 16384 bytes, 3.14159265358979312",
    "GB82 is a road, and DE12 3456 7890 1234 5678 90 a wrong number",
    "sk-learn, sk-ant, ghp_ and AKIA are only beginnings",
    "api_key=production2024, secret: 2026-11-23T10, token = user_id_1234",
    "tokens: 200, max_tokens = 4096, tokenizer=cl100k_base",
    "key = value, key: 0x1f2e3d4c, primary_key=True",
)
"""Texts that look similar to secrets but contain none."""
