"""Detectors of API keys and access tokens, whose issuers say how they look."""

from __future__ import annotations

import re
from typing import Final

from engine.commands.secrets.detector import Detector, matching
from engine.commands.secrets.random_values import has_entropy, is_token

AFTER_WORD = r"(?<![0-9A-Za-z])"

_BASE64 = re.compile(r"[0-9A-Za-z+/_-]{24}", re.ASCII)
"""A token may follow a word without a space, but not a long run of base64."""

_TOKENS: Final = (
    ("1password-token", "ops_eyJ", r"%s[\w+/-]{200,}+=*+"),
    ("age-key", "AGE-SECRET-KEY-1", r"%s[0-9A-Z]{58}"),
    ("airtable-token", "pat", r"%s[0-9A-Za-z]{14}\.[0-9a-f]{64}"),
    ("alibaba-key", "LTAI", r"%s[0-9A-Za-z]{12,24}+(?![0-9A-Za-z])"),
    ("anthropic-key", "sk-ant-", r"%s[a-z0-9]{3,12}-[\w-]{20,}+"),
    ("artifactory-key", "AKCp cmVmd", r"%s[0-9A-Za-z]{59,69}+(?![0-9A-Za-z])"),
    ("atlassian-token", "ATATT3 ATCTT3 ATBB", r"%s[\w=-]{28,}+"),
    ("aws-key", "AKIA ASIA ABIA ACCA", r"%s[0-9A-Z]{16}(?![0-9A-Z])"),
    ("aws-key", "ABSK", r"%s[0-9A-Za-z+/]{109,}+={0,2}"),
    ("azure-secret", "Q~", r"[\w.~]{3}[0-9]%s[\w.~-]{31,34}(?![\w~-])"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"%s[0-9a-f]{64}-[0-9A-Za-z]{16}"),
    ("buildkite-token", "bkua_", r"%s[0-9a-f]{40}"),
    ("databricks-token", "dapi", r"%s[0-9a-f]{32}(?:-[0-9])?"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"%s[0-9a-f]{64}"),
    ("discord-webhook", "/api/webhooks/", r"%s[0-9]{17,20}/(?P<secret>[\w-]{60,}+)"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"%s[\w-]{27,}+"),
    ("doppler-token", "dp.", r"%s(?:pt|ct|sa|scim|audit|st(?:\.[a-z0-9_-]{1,35})?)\.[0-9A-Za-z]{40,44}"),
    ("dynatrace-token", "dt0c01.", r"%s[0-9A-Z]{24}\.[0-9A-Z]{64}"),
    ("easypost-key", "EZAK EZTK", r"%s[0-9A-Za-z]{54}"),
    ("figma-token", "figd_", r"%s[\w-]{40,}+"),
    ("fly-token", "fo1_ fm1a_ fm1r_ fm2_", r"%s[\w+/=-]{43,}+"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"%s[0-9A-Za-z]{36,}+"),
    ("github-token", "github_pat_", r"%s\w{40,}+"),
    (
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glffct- glimt- glagent- gloas- glsoat- GR1348941",
        r"%s[\w.-]{20,}+",
    ),
    ("google-key", "AIza", r"%s[\w-]{35}(?![\w-])"),
    ("google-key", "GOCSPX- ya29.", r"%s[\w-]{20,}+"),
    ("grafana-token", "glc_ glsa_", r"%s[\w+/]{32,}+={0,2}"),
    ("groq-key", "gsk_", r"%s[0-9A-Za-z]{52}"),
    ("heroku-key", "HRKU-AA", r"%s[\w-]{58}"),
    ("huggingface-token", "hf_ api_org_", r"%s[0-9A-Za-z]{34,}+"),
    ("linear-key", "lin_api_ lin_oauth_", r"%s[0-9A-Za-z]{40,}+"),
    ("mailchimp-key", "-us", r"[0-9a-f]{32}%s[0-9]{1,2}(?![0-9A-Za-z])"),
    ("mailgun-key", "key-", r"%s[0-9a-f]{32}(?![0-9A-Za-z])"),
    # Issued by `engine token new`.
    ("memroot-token", "mr_", r"%s(?=[\w-]{0,35}[0-9A-Za-z]{8})[\w-]{43}(?![\w-])"),
    ("newrelic-key", "NRAK- NRII- NRJS-", r"%s[\w-]{19,}+"),
    ("notion-token", "ntn_ secret_", r"%s[0-9A-Za-z]{43,}+"),
    ("npm-token", "npm_", r"%s[0-9A-Za-z]{36}"),
    ("nuget-key", "oy2", r"%s[0-9a-z]{43}(?![0-9A-Za-z])"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", r"%s[\w-]{20,}+"),
    ("openai-key", "sk-", AFTER_WORD + r"%s[0-9A-Za-z]{40,}+"),
    ("openshift-token", "sha256~", r"%s[\w-]{43}"),
    ("perplexity-key", "pplx-", r"%s[0-9A-Za-z]{48}"),
    ("pinecone-key", "pcsk_", r"%s\w{50,}+"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"%s[\w=.-]{32,}+"),
    ("postman-key", "PMAK-", r"%s[0-9a-f]{24}-[0-9a-f]{34}"),
    ("pulumi-token", "pul-", r"%s[0-9a-f]{40}"),
    ("pypi-token", "pypi-AgE", r"%s[\w-]{50,}+"),
    ("replicate-token", "r8_", r"%s[0-9A-Za-z]{37}"),
    ("rubygems-key", "rubygems_", r"%s[0-9a-f]{48}"),
    ("sendgrid-key", "SG.", r"%s[\w-]{16,32}\.[\w-]{32,64}"),
    ("sentry-token", "sntrys_ sntryu_", r"%s[\w+/=-]{40,}+"),
    ("shippo-key", "shippo_live_ shippo_test_", r"%s[0-9a-f]{40}"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"%s[0-9A-Fa-f]{32}"),
    ("slack-token", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"%s[0-9A-Za-z-]{10,}+"),
    ("slack-token", "hooks.slack.com/", r"%s(?:services|workflows|triggers)/(?P<secret>[0-9A-Za-z/]{20,}+)"),
    ("square-token", "sq0atp- sq0csp-", r"%s[\w-]{22,}+"),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"%s[0-9A-Za-z]{16,}+"),
    ("stripe-key", "whsec_", r"%s[0-9A-Za-z+/]{24,}+={0,2}"),
    ("supabase-key", "sbp_ sb_secret_", r"%s\w{31,}+"),
    ("tailscale-key", "tskey-", r"%s[a-z]{3,9}-[0-9A-Za-z-]{20,}+"),
    ("teams-webhook", "webhook.office.com/webhookb2/", r"%s(?P<secret>[\w@/-]{80,}+)"),
    ("telegram-token", ":AA", r"[0-9]{8,10}%s[\w-]{33}(?![\w-])"),
    ("terraform-token", ".atlasv1.", r"[0-9A-Za-z]{14}%s[\w=-]{60,}+"),
    ("twilio-key", "SK", r"%s[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("typeform-token", "tfp_", r"%s[\w=.-]{44,}+"),
    ("vault-token", "hvs. hvb. hvr.", r"%s[\w-]{24,}+"),
    ("xai-key", "xai-", r"%s[0-9A-Za-z]{70,}+"),
)
"""The tokens of each issuer: kind, the texts one of which each token contains, and a pattern around them."""


def _looks_issued(match: re.Match[str]) -> bool:
    """Return True if the token is no placeholder, and looks random if a letter or digit precedes it."""
    token, start = match[0], match.start()
    before = match.string[max(0, start - 24) : start]
    if before[-1:].isascii() and before[-1:].isalnum():
        return is_token(token) and not _BASE64.fullmatch(before)
    return has_entropy(token)


API_KEYS: Final[tuple[Detector, ...]] = (
    *(
        matching(
            kind,
            pattern % f"(?:{'|'.join(map(re.escape, texts.split()))})",
            *texts.split(),
            check=_looks_issued,
            issued=True,
        )
        for kind, texts, pattern in _TOKENS
    ),
    matching("jwt", r"eyJ[\w-]{6,}+\.eyJ[\w-]{6,}+\.[\w-]*+", "eyJ", check=_looks_issued, issued=True),
    matching(
        "bearer",
        r"[Bb](?:earer|EARER)[ \t]{1,8}(?P<secret>[0-9A-Za-z._~+/-]{16,}+=*+)",
        *("earer", "EARER"),
        check=lambda match: is_token(match["secret"]),
    ),
)
