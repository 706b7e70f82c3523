"""Find credentials in text, and mask them, before anything touches disk.

Hooks run this in a process of their own at every tool call, so it imports little and compiles a pattern when it is needed.
No pattern may look at the same character twice for long: where one could begin anywhere, its length is bounded.
"""

from __future__ import annotations

import math
import re
from collections import Counter, namedtuple
from collections.abc import Iterator, Mapping
from functools import cache

MYPY = False
if MYPY:  # what `typing` costs to import is a third of a hook
    from typing import Any

_PRIVATE = r"(?is)<private>.*?(?:</private>|\Z)"

# Shapes that are a credential wherever they stand: name, texts one of which the pattern begins with (they are looked for
# first, since that is cheap; behind a ~ one may be anywhere in it), pattern. The first group, if there is one, is the secret.
_SHAPES: tuple[tuple[str, str, str], ...] = (
    # Keys
    ("private key", "-----BEGIN", r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----|\Z)"),
    ("private key", "-----BEGIN", r"-----BEGIN OpenVPN Static key V1-----[\s\S]*?(?:-----END OpenVPN Static key V1-----|\Z)"),
    ("private key", "LS0tLS1CRUdJTi", r"LS0tLS1CRUdJTi[A-Za-z0-9+/]{0,24}(?:UFJJVkFURSBLRVkt|BSSVZBVEUgS0VZL|QUklWQVRFIEtFWS)[A-Za-z0-9+/=]*"),
    ("PuTTY key", "PuTTY-", r"PuTTY-User-Key-File-\d: [\s\S]*?(?:Private-MAC: [0-9a-f]+|\Z)"),
    ("PuTTY key", "Private-Lines", r"Private-Lines: \d+\s+([A-Za-z0-9+/=\s]+(?:Private-MAC: [0-9a-f]+)?)"),
    ("age key", "AGE-SECRET", r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b"),
    ("kubeconfig key", "client-key-data", r"client-key-data[\"']?:\s{0,4}[\"']?([A-Za-z0-9+/]{40,}={0,2})"),
    # Clouds
    ("AWS access key", "AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("Bedrock key", "ABSK", r"\bABSK[A-Za-z0-9+/]{90,}={0,2}"),
    ("Google API key", "AIza", r"\bAIza[A-Za-z0-9_\-]{35}(?![A-Za-z0-9_\-])"),
    ("Google OAuth token", "ya29.", r"\bya29\.[A-Za-z0-9_\-]{20,}"),
    ("Google OAuth secret", "GOCSPX-", r"\bGOCSPX-[A-Za-z0-9_\-]{20,}"),
    ("Google refresh token", "1//0", r"(?<![\w/])1//0[A-Za-z0-9_\-]{40,}"),
    ("Firebase key", "AAAA", r"\bAAAA[A-Za-z0-9_\-]{7}:[A-Za-z0-9_\-]{140}"),
    ("Azure storage key", "AccountKey= SharedAccessKey=", r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{40,}={0,2})"),
    ("Azure SAS", "sig=", r"(?<=[?&;])sig=([A-Za-z0-9%+/]{40,}={0,2})"),
    ("Azure client secret", "~ Q~", r"(?<![\w~.\-])[A-Za-z0-9_~.\-]{3}\dQ~[A-Za-z0-9_~.\-]{31,34}(?![\w~\-])"),
    ("Azure DevOps token", "~ AZDO", r"\b[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b"),
    ("DigitalOcean token", "doo_v1_ dop_v1_ dor_v1_", r"\bdo[opr]_v1_[0-9a-f]{64}\b"),
    ("Alibaba key", "LTAI", r"\bLTAI[A-Za-z0-9]{16,26}\b"),
    ("Tencent key", "AKID", r"\bAKID[A-Za-z0-9]{32}\b"),
    ("Cloudflare key", "v1.0-", r"\bv1\.0-[0-9a-f]{24}-[0-9a-f]{146}\b"),
    ("Heroku key", "HRKU-", r"\bHRKU-[A-Za-z0-9_\-]{30,}"),
    ("Fly.io token", "fm1 fm2", r"\bfm(?:1[ar]|2)_[A-Za-z0-9+/=_\-]{50,}(?:,fm(?:1[ar]|2)_[A-Za-z0-9+/=_\-]{50,})*"),
    ("Netlify token", "nfp_ nfc_", r"\bnf[pc]_[A-Za-z0-9]{36,40}\b"),
    ("Render key", "rnd_", r"\brnd_[A-Za-z0-9]{28}\b"),
    ("Vault token", "hvs. hvb. hvr.", r"\bhv[sbr]\.[A-Za-z0-9_\-]{24,}"),
    ("Terraform token", "~ .atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_\-]{60,}"),
    ("Pulumi token", "pul-", r"\bpul-[0-9a-f]{40}\b"),
    ("Doppler token", "dp.", r"\bdp\.(?:pt|ct|st|sa|scim|audit)\.(?:[a-z0-9_\-]{2,35}\.)?[A-Za-z0-9]{40,44}\b"),
    ("Tailscale key", "tskey-", r"\btskey-[a-z]{2,12}-[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,64}"),
    ("1Password token", "ops_eyJ", r"\bops_eyJ[A-Za-z0-9_\-+/]{200,}={0,2}"),
    # Code, builds and packages
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})\b"),
    ("GitLab token", "glpat- glptt- gldt- glrt- glrtr- glcbt- glft- glsoat- glimt- glagent- gloas- glffct-", r"\bgl(?:pat|ptt|dt|rt|rtr|cbt|ft|soat|imt|agent|oas|ffct)-[A-Za-z0-9_\-.]{20,}"),
    ("Bitbucket token", "ATBB ATCTT", r"\b(?:ATBB[A-Za-z0-9]{32}|ATCTT3[A-Za-z0-9_\-=]{60,})\b"),
    ("npm token", "npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("registry token", "_authToken _auth", r"_auth(?:Token)?\s{0,4}=\s{0,4}[\"']?([A-Za-z0-9_\-+/=]{16,})"),
    ("PyPI token", "pypi-", r"\bpypi-[A-Za-z0-9_\-]{50,}"),
    ("RubyGems key", "rubygems_", r"\brubygems_[0-9a-f]{48}\b"),
    ("NuGet key", "oy2", r"\boy2[a-z0-9]{43}\b"),
    ("crates.io token", "cio", r"\bcio(?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}\b"),
    ("Clojars token", "CLOJARS_", r"\bCLOJARS_[0-9a-f]{60}\b"),
    ("Docker token", "dckr_", r"\bdckr_[po]at_[A-Za-z0-9_\-]{27,}"),
    ("docker auth", "\"auth 'auth", r"[\"']auth\\{0,7}[\"']\s{0,4}:\s{0,4}\\{0,7}[\"']([A-Za-z0-9+/]{16,}={0,2})\\{0,7}[\"']"),
    ("JFrog key", "AKCp cmVmdGtu", r"\b(?:AKCp[A-Za-z0-9]{69,}|cmVmdGtu[A-Za-z0-9]{56,})\b"),
    ("CircleCI token", "CCIPAT_ CCIPRJ_", r"\bCCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}\b"),
    ("Buildkite token", "bkua_ bkaj_", r"\bbk(?:ua|aj)_[0-9a-f]{40}\b"),
    ("SonarQube token", "sqp_ squ_ sqa_", r"\bsq[pua]_[0-9a-f]{40}\b"),
    ("Sourcegraph token", "sgp_", r"\bsgp_(?:(?:local|[0-9a-fA-F]{16})_)?[0-9a-fA-F]{40}\b"),
    ("Postman key", "PMAK-", r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b"),
    # Language models
    ("Anthropic key", "sk-ant-", r"\bsk-ant-[A-Za-z0-9_\-]{20,}"),
    ("OpenRouter key", "sk-or-", r"\bsk-or-(?:v1-)?[0-9a-f]{64}\b"),
    ("Langfuse key", "sk-lf-", r"\bsk-lf-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    ("OpenAI key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-|None-)?[A-Za-z0-9_\-]{20,}"),
    ("Groq key", "gsk_", r"\bgsk_[A-Za-z0-9]{50,56}\b"),
    ("xAI key", "xai-", r"\bxai-[A-Za-z0-9]{70,84}\b"),
    ("Perplexity key", "pplx-", r"\bpplx-[A-Za-z0-9]{40,56}\b"),
    ("Replicate token", "r8_", r"\br8_[A-Za-z0-9]{37}\b"),
    ("Hugging Face token", "hf_ api_org_", r"\b(?:hf|api_org)_[A-Za-z0-9]{30,}\b"),
    ("NVIDIA key", "nvapi-", r"\bnvapi-[A-Za-z0-9_\-]{60,70}"),
    ("LangSmith key", "lsv2_", r"\blsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}\b"),
    ("Pinecone key", "pcsk_", r"\bpcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,70}\b"),
    ("Tavily key", "tvly-", r"\btvly-(?:dev-|prod-)?[A-Za-z0-9]{28,40}\b"),
    # Talking and mailing
    ("Slack token", "xox xapp", r"\b(?:xox[abeoprs]-(?:\d-)?[A-Za-z0-9\-]{10,}|xapp-\d-[A-Z0-9]{8,}-\d+-[0-9a-f]{40,})"),
    ("Slack webhook", "https://hooks.slack http://hooks.slack", r"https?://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/]{20,}"),
    ("Discord webhook", "https://discord https://ptb. https://canary.", r"https://(?:ptb\.|canary\.)?discord(?:app)?\.com/api/webhooks/\d+/[\w\-]{20,}"),
    ("Discord bot token", "~ .", r"(?<![\w\-.])[MNO][A-Za-z0-9_\-]{23,27}\.[A-Za-z0-9_\-]{6}\.[A-Za-z0-9_\-]{27,40}(?![\w\-.])"),
    ("Teams webhook", "~ webhook.office.com", r"https://[\w\-]+\.webhook\.office\.com/webhookb2/[0-9a-f\-]{36}@[0-9a-f\-]{36}/\w+/[0-9a-f]{32}[\w\-/]*"),
    ("Telegram bot token", "~ :AA", r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_\-]{33}(?![\w\-])"),
    ("Facebook token", "EAA", r"\bEAA[A-Z][A-Za-z0-9]{80,}"),
    ("Facebook token", "~ |", r"(?<!\w)\d{15,16}\|[A-Za-z0-9_\-]{27}(?![\w\-])"),
    ("SendGrid key", "SG.", r"\bSG\.[A-Za-z0-9_\-]{16,32}\.[A-Za-z0-9_\-]{30,64}"),
    ("Twilio key", "SK AC", r"\b(?:SK|AC)[0-9a-f]{32}\b"),
    ("Mailgun key", "key-", r"\bkey-[0-9a-f]{32}\b"),
    ("Mailchimp key", "~ -us", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    ("Brevo key", "xkeysib- xsmtpsib-", r"\bx(?:key|smtp)sib-[0-9a-f]{64}-[A-Za-z0-9]{16}\b"),
    ("Resend key", "re_", r"\bre_[A-Za-z0-9]{8}_[A-Za-z0-9]{24}\b"),
    # Money
    ("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b"),
    ("Stripe webhook secret", "whsec_", r"\bwhsec_[A-Za-z0-9+/]{24,}={0,2}"),
    ("Square token", "sq0 EAAA", r"\b(?:sq0(?:atp|csp|idp)-[A-Za-z0-9_\-]{22,43}|EAAA[A-Za-z0-9_\-]{60})(?![\w\-])"),
    ("Braintree token", "access_token$", r"\baccess_token\$(?:production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}\b"),
    ("Razorpay key", "rzp_", r"\brzp_(?:live|test)_[A-Za-z0-9]{14}\b"),
    ("Shopify token", "shp", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}\b"),
    # Data and services
    ("Databricks token", "dapi", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    ("Supabase key", "sbp_ sb_secret_", r"\b(?:sbp_(?:v0_)?[0-9a-f]{40}|sb_secret_[A-Za-z0-9_\-]{30,})"),
    ("PlanetScale token", "pscale_", r"\bpscale_(?:tkn|pw|oauth)_[A-Za-z0-9_\-.]{32,64}"),
    ("Neon key", "napi_", r"\bnapi_[a-z0-9]{60,70}\b"),
    ("Linear key", "lin_", r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,}\b"),
    ("Notion token", "ntn_ secret_", r"\b(?:ntn_[A-Za-z0-9]{40,50}|secret_[A-Za-z0-9]{43})\b"),
    ("Atlassian token", "ATATT3", r"\bATATT3[A-Za-z0-9_\-]{60,}(?:=[0-9A-F]{8})?"),
    ("Figma token", "figd_ figo_", r"\bfig[do]_[A-Za-z0-9_\-]{36,}"),
    ("Airtable token", "pat", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    ("Grafana token", "glsa_ glc_", r"\b(?:glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_[A-Za-z0-9+/]{50,}={0,2})"),
    ("New Relic key", "NRAK- NRJS-", r"\bNR(?:AK|JS)-[A-Za-z0-9]{19,27}\b"),
    ("Sentry token", "sntrys_ sntryu_", r"\b(?:sntryu_[0-9a-f]{64}|sntrys_[A-Za-z0-9+/=_\-]{60,})"),
    ("Dynatrace token", "dt0", r"\bdt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}\b"),
    ("Contentful token", "CFPAT-", r"\bCFPAT-[A-Za-z0-9_\-]{43}"),
    ("Prefect key", "pnu_ pnb_", r"\bpn[ub]_[A-Za-z0-9]{36}\b"),
    # Wherever it came from
    ("JSON web token", "eyJ", r"(?<![\w\-])eyJ[A-Za-z0-9_\-]{10,}\.eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}"),
    ("password in a URL", "://", r"://[^\s:/@]{0,200}:([^\s/@]{3,200})@[^\s/]"),
    ("bearer token", "uthorization UTHORIZATION", r"(?i)uthorization[\"']?\s{0,4}[:=]\s{0,4}[\"'`]?(?:(?:bearer|basic|token|api-token|apikey|bot)\s{1,4}[\"']?)?([A-Za-z0-9_\-.+/=~@]{10,})"),
    ("bearer token", "earer EARER", r"(?i)(?<=b)earer\s{1,4}[\"']?([A-Za-z0-9_\-.+/=~]{16,})"),
    ("password of curl", "curl wget", r"\b(?:curl|wget)\b(?:[^\n|]|\\\n){0,200}?\s(?:-u|--user)[ =]{0,3}[\"']?[^\s:\"']{0,100}[\"']?:[\"']?([^\s\"'<>]{4,})"),
    ("password of netrc", "machine", r"\bmachine\s{1,4}\S{1,200}\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(\S{4,})"),
    ("password of a command", "sshpass mysql mariadb docker podman helm twine az redis-cli", r"\b(?:sshpass|mysql\w{0,10}|mariadb\S{0,10}|docker|podman|helm|twine|az|redis-cli)\s[^\n|;&]{0,300}?(?<=\s)(?:-p\s?|-a\s|--pass\s)[\"']?([^\s\"']{5,})"),
    ("password of a command", "--", r"(?i)(?<!\S)--[\w\-]{0,40}?(?:password|passwd|passphrase|pass|pwd|token|secret|api-?key|auth-?key|access-?key)[ =]{1,4}[\"']?([^\s\"']{6,})"),
    ("session cookie", "~ ookie", r"(?i)(?:^|[\s;\"'.])[\w.\-]{0,40}?(?:session|sess|sid|auth|token|jwt|remember)[\w.\-]{0,40}=([^\s;,\"']{16,})"),
    ("password in prose", "password Password PASSWORD passphrase Passphrase passcode Passcode", r"(?i)\b(?:password|passphrase|passcode)(?: [\w\-]{1,20}){0,4}? (?:is|was) [\"'`]?([^\s\"'`,;]{6,})"),
)  # fmt: skip
# What could be words as well as a credential: only taken for one if it looks random.
_JUDGED = frozenset(("OpenAI key", "Hugging Face token", "Slack token", "bearer token", "password of curl", "password of a command", "session cookie", "password in prose", "docker auth", "registry token"))  # fmt: skip
# A key ends where it ends, whatever it seems to say in between.
_WHOLE = frozenset(("private key", "PuTTY key"))
_PROMISES = ("passw", "pwd", "passphrase", "secret", "token", "credential", "key")
_KEYS = ("api", "access", "private", "auth", "encryption", "encrypt", "signing", "master", "app", "application", "account",
         "shared", "license", "licence", "deploy", "service", "storage", "jwt", "hmac")  # fmt: skip
# Behind a name that promises a secret: an assignment, and something. Quotes may be escaped, as in JSON in JSON.
_ASSIGNED = (
    r"([\w.\-]{0,60})\\{0,3}[\"']?[ \t]{0,8}(?:=>|:=|=|:|value=)[ \t]{0,8}"
    r"(?:\\{0,3}\"([^\"\n]{6,}?)\\{0,3}\"|\\{0,3}'([^'\n]{6,}?)\\{0,3}'|([^\s\"'`,;(){}<>\[\]\\]{8,}))"
)
# What such a name goes on with when it is about a secret and not the secret itself.
_ABOUT = (
    r"(?i)(?:ids?|names?|urls?|uri|endpoint|path|files?|dir|hash|digest|sha\d*|md5|checksum|arn|ttl|expir\w*|version|types?|type_hint|"
    r"counts?|limit|days?|algorithm|headers?|env|policy|length|size|source|helper|ref|hint|pattern|regex|template|rotation|"
    r"encryption|hashers?|label|placeholder|field|column|prefix|at|izer|ized?|provider|manager|scope|usage|used)$"
)
_PLACEHOLDER = (
    r"(?i)^(?:\$|%[({a-z]|\{|<|\*{3,}|x{3,}|\.{3}|\[)|example|placeholder|your[_\-]|change.?me|redacted|omitted|dummy|x{8,}|\*{6,}|"
    r"replace.?me|not.?a.?real|\.\.\.|…|os\.environ|getenv|process\.env|secrets?\.|vault|^(?:none|null|true|false|undefined|string|str|optional)\b"
)
# Passwords that everybody uses for what nobody can reach.
_DEFAULTS = frozenset("password passwd pass pwd postgres mysql root admin guest test tests testing user username secret token changeme redis rabbitmq minioadmin".split())  # fmt: skip
# One part of a name, a path, a version or a sentence; a single one of them may end in digits (sha256, v2, token2).
_WORD = r"[A-Z]?[a-z]+(?:[A-Z][a-z]+)*|[A-Z]+|\d{1,13}|"
_NUMBERED = r"(?:[A-Z]{1,4}|[a-z]{1,4}|[A-Z][a-z]{0,3})\d{1,4}|[a-z]+\d"

# One credential found: what it is and where, never the value.
Secret = namedtuple("Secret", ("name", "start", "end"))  # noqa: PYI024  typing is too dear here
ASSIGNED = "password or key"
KINDS = (*dict.fromkeys(name for name, _, _ in _SHAPES), ASSIGNED)

_compiled = cache(re.compile)
_HINTS = tuple(
    (hint, name, shape, hints[0] == "~") for name, hints, shape in _SHAPES for hint in hints.removeprefix("~").split()
)


def find_secrets(text: str) -> list[Secret]:
    """Give every credential in a text, leftmost first, without overlaps."""
    kept: list[Secret] = []
    found = list(_candidates(text))
    if (
        "\\" in text
    ):  # in JSON in JSON the end of a line is two characters, the second of them a letter before the secret
        found += _candidates(text.replace("\\n", "  ").replace("\\r", "  ").replace("\\t", "  "))
    for secret in sorted(found, key=lambda secret: (secret.start, -secret.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:  # no rule may hide what another one saw
            kept[-1] = kept[-1]._replace(end=secret.end)
    return kept


def mask_secrets(text: str) -> str:
    """Give the text with each credential replaced by what it was."""
    parts, last = [], 0
    for secret in find_secrets(text):
        parts += [text[last : secret.start], f"[redacted {secret.name}]"]
        last = secret.end
    return "".join((*parts, text[last:]))


def drop_private(text: str) -> str:
    """Give the text without what its author marked <private>."""
    return _compiled(_PRIVATE).sub("", text) if "<" in text and "<private>" in text.lower() else text


def masked(value: Any) -> Any:
    """Give a JSON value with private spans dropped and credentials masked in every text and every name."""
    # Looked at as one text first: nearly always there is nothing to mask.
    whole = "\n".join(texts_of(value, names=True))
    if "<private>" in whole.lower() or find_secrets(whole) or any(_named(value)):
        return _masked(value)
    return value


def secrets_in(value: Any) -> tuple[str, ...]:
    """Give what credentials a JSON value holds, once each."""
    return tuple(dict.fromkeys(name for name, _ in secret_texts(value)))


def secret_texts(value: Any) -> Iterator[tuple[str, str]]:
    """Give every credential in a JSON value, what it is and itself: in a text, in a name, or as what a name promises."""
    for text in texts_of(value, names=True):
        yield from ((secret.name, text[secret.start : secret.end]) for secret in find_secrets(text))
    yield from ((ASSIGNED, text) for text in _named(value))


def texts_of(value: Any, *, names: bool = False) -> Iterator[str]:
    """Give every text in a JSON value, and its names if they are wanted."""
    match value:
        case str():
            yield value
        case Mapping():
            for key, item in value.items():
                if names:
                    yield str(key)
                yield from texts_of(item, names=names)
        case list() | tuple():
            for item in value:
                yield from texts_of(item, names=names)


def _masked(value: Any) -> Any:
    match value:
        case str():
            return mask_secrets(drop_private(value))
        case Mapping():
            clean: dict[str, Any] = {}
            hidden = set(_hidden(value))
            for key, item in value.items():
                name = _masked(key)
                while name in clean:  # two names may have been the same but for their secrets
                    name += "'"
                clean[name] = f"[redacted {ASSIGNED}]" if key in hidden else _masked(item)
            return clean
        case list() | tuple():
            return [_masked(item) for item in value]
    return value


def _named(value: Any) -> Iterator[str]:
    """Give the texts in a JSON value, at any depth, that are what their name promises: a credential."""
    match value:
        case Mapping():
            yield from (value[key] for key in _hidden(value))
            for item in value.values():
                yield from _named(item)
        case list() | tuple():
            for item in value:
                yield from _named(item)


def _hidden(value: Mapping[Any, Any]) -> Iterator[str]:
    """Give the names of one object whose text is a credential; {name: …, value: …} is a name and its text, too."""
    for key, item in value.items():
        if isinstance(item, str) and _promises(str(key)) and _is_secret(item, least=6):
            yield key
    told, item = value.get("name") or value.get("key"), value.get("value")
    if isinstance(told, str) and isinstance(item, str) and _promises(told) and _is_secret(item, least=6):
        yield "value"


def _promises(name: str) -> bool:
    rest = [name[end:] for end in _promised(name)]
    return any(_compiled(r"[\w.\-]{0,60}").fullmatch(one) and not _compiled(_ABOUT).search(one) for one in rest)


def _candidates(text: str) -> Iterator[Secret]:
    for hint, name, shape, anywhere in _HINTS:
        if hint in text:
            for match in _compiled(shape).finditer(text) if anywhere else _matches(hint, shape, text):
                group = 1 if match.re.groups else 0
                if _is_shape(name, match[group]):
                    yield Secret(name=name, start=match.start(group), end=match.end(group))
    last = 0
    for start in sorted(_promised(text)):
        found = _compiled(_ASSIGNED).match(text, start) if start >= last else None
        if found is None:
            continue
        match, last = found, found.end()
        group = next(number for number in (2, 3, 4) if match[number])
        called = text[match.end() : match.end() + 1] in tuple("([{")
        if not _compiled(_ABOUT).search(match[1]) and _is_secret(match[group], code=called and group == 4):
            yield Secret(name=ASSIGNED, start=match.start(group), end=match.end(group))


def _matches(hint: str, shape: str, text: str) -> Iterator[re.Match[str]]:
    """Try a pattern only where it could begin: ten times as fast as to let it look for that itself."""
    pattern, place = _compiled(shape), text.find(hint)
    while place >= 0:
        match = pattern.match(text, place)
        if match:
            yield match
        place = text.find(hint, match.end() if match else place + 1)


def _promised(text: str) -> Iterator[int]:
    """Give where a name ends that promises a secret; whatever it goes on with is left to the caller."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow: then places would not be the same
        lowered = "".join(letter.lower() if letter.isascii() else " " for letter in text)
    for promise in _PROMISES:
        place = lowered.find(promise)
        while place >= 0:
            end = place + len(promise)
            if promise != "key" or lowered[max(0, place - 12) : place].rstrip("_-").endswith(_KEYS):
                yield end
            place = lowered.find(promise, end)


def _is_shape(name: str, value: str) -> bool:
    if name in _WHOLE:
        return True
    if name in _JUDGED:
        return _is_secret(value)
    plain = value.lower() in _DEFAULTS or (len(value) <= 5 and value.isdigit())  # a port is no password
    return not plain and not _compiled(_PLACEHOLDER).search(value)


def _is_secret(value: str, *, least: int = 4, code: bool = False) -> bool:
    """Tell whether a text that stands where a secret might be looks like one: random, not words, not a stand-in."""
    if len(value) < least or " " in value.strip() or _compiled(_PLACEHOLDER).search(value):
        return False
    if _is_wordy(value) or (code and _compiled(r"[\w.]+").fullmatch(value)):
        return False
    kinds = sum(bool(_compiled(kind).search(value)) for kind in (r"[a-z]", r"[A-Z]", r"\d", r"[^\w]"))
    return kinds >= 2 and _entropy(value) >= 2.3


def _is_wordy(value: str) -> bool:
    """Tell whether a text is made of words and numbers with something plain between them, like a name or a path."""
    if _compiled(r"[^\w\-./:~,]|^\w+://\S*@").search(value):
        return False
    parts = _compiled(r"[\W_]+").split(value)
    odd = [part for part in parts if not _compiled(_WORD).fullmatch(part)]
    return not odd or (len(parts) > 1 and len(odd) == 1 and bool(_compiled(_NUMBERED).fullmatch(odd[0])))


def _entropy(value: str) -> float:
    counts = Counter(value).values()
    return -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
