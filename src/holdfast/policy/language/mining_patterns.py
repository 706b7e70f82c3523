"""Patterns for mining: wordings to skip, and wordings that state a decision, a setting, a reason or another fact."""

import re


def _any(*alternatives: str, case: bool = False) -> re.Pattern[str]:
    return re.compile("|".join(alternatives), 0 if case else re.IGNORECASE)


# ---- Skipped ----

# Narration of work: what someone does, did or is about to do.
CHATTER = _any(
    r"^(?:(?:now|next|then|so|ok(?:ay)?|great|good|perfect|alright|first(?:ly)?|finally|also|and|but)[,!.:]?\s+)*(?:"
    r"let(?:'s| me| us)\b",
    r"i(?:'ll|'m|'ve|'d| will| am| have| need| can| should| see| was| found| think| believe| would)\b",
    r"we(?:'ve| have| found| identified| need to| should)\b",
    r"(?:i|we) (?:also |then |just )?(?:added|changed|updated|removed|renamed|fixed|created|wrote|ran|moved|tried|checked|"
    r"looked|deleted|edited|implemented|refactored|replaced)\b",
    r"(?:add|adding|update|replace|see|fix|improve|consider|refactor|rename|remove|implement|handle|check|verify|make sure|"
    r"ensure|migrate|investigate|create|move|keep|discovered|found|identified|change|upgrade|file)\s",
    r"(?:looking|waiting|checking|searching|reading|trying|fixed|added|updated|removed)\s",
    r"running (?:the )?(?:tests?|build|it|this)\b",
    r"here(?:'s| is| are)\b",
    r"(?:done|great|ok(?:ay)?|perfect|good|nice|sure|yes|no|thanks|todo|plan)\b",
    r"(?:anything else|next step|the following\s))",
)
ASIDE = _any(
    r"\bI(?:'ll|'m|'ve| will| can| need| have| am| was| would| wonder| discovered| found| identified| see| should| think| confirm)\b",
    r"\b(?:let me|fixing it|will commit|my (?:change|analysis|previous|answer))\b",
)
# About the current task: true only until it is done.
TASK = _any(
    r"\bneed(?:s|ed)? (?:\w+ )?(?:to be |further |some )?(?:modif|fix|chang|updat|examin|consider|investigat|attention|adjust|review)",
    r"\bneed(?:s|ed)? to (?:add|properly|first|be)\b",
    r"\bthe fix\b|\bthis (?:issue|fix|ranking|list|analysis|location|change)\b",
    r"\bthe (?:\w+ ){0,2}(?:issue|error|area|location|bug) (?:\w+ )?(?:requires|has|stems|lies|occurs|happens|resides|appears|needing|is(?! that))\b",
    r"\banalysis (?:show|reveal|confirm|cover)\w*\b|\brelevant (?:locations?|files?)\b|\blines? \d+",
    r"\b(?:most|equally|particularly|more) (?:important|critical|relevant)\b|\b(?:re)?rank(?:ed|ing|s)?\b|\bpriority\b",
    r"\b(?:comes next|moves up|remains the|is (?:second|third|crucial) (?:as|because))\b",
    r"\bthe (?:issue|problem|bug|error) (?:manifests|arises|exists|occurs|comes)\b",
    r"\b(?:properly|incorrectly)\b|\b(?:already|works?|working|handles? \w+) correctly\b|\bcurrent (?:code|implementation)\b",
    r"\b(?:is|are) (?:\w+ )?(?:important|relevant|critical|included|involved|added) (?:because|for|as|to)\b",
)
# Sentences that refer back to an earlier one, and predicates without a subject, mean little alone.
DANGLING = _any(
    r"^(?:(?:when|if|while|after|before|since|because|as|and|but|so|however,) )?(?:it|this|these|those|that|they|he|she)\b"
    r"(?! (?:project|repo(?:sitory)?|service|app|package|codebase|monorepo|library|site|is an? |was decided|turn(?:s|ed) out))",
    r"^(?:because|which|whose|not|and|or|but|its|than|how|why|what|then|finally|(?:have|has) to)\b",
    r"^the (?:method|function|parent class|class|code|file|implementation|key change|resulting)\b",
    r"^(?:needs?|handles|uses|contains|provides|manages|shows|returns|includes|defines|implements|adds|makes|ensures|allows|"
    r"supports|depends)\b",
)
SUPPOSED = _any(
    r"\b(?:maybe|perhaps|probably|possibly|presumably|might|could|would|whether|suppose|supposing|assuming|not sure|unclear)\b",
    r"\b(?:one option|another option|alternatively|at some point|seems? to|appears? to|should we|still need to|find out)\b",
    r"\b(?:if (?:we|you|i) \w+|to be decided|once (?:that|this) is)\b",
)
MOMENTARY = _any(
    r"\b(?:currently|right now|at the moment|for now|this time|today|yesterday|broken|again|so far|already in use|is running)\b",
    r"\b(?:commits? (?:ahead|behind)|still (?:fails|failing|red)|(?:doesn't|does not) work|has \d+ lines|waiting for)\b",
    r"\b(?:in progress|just (?:now|merged|pushed))\b|\b(?:yet|now)[.!]?$",
)
# Only a noun with a relative clause: "the class which handles dates".
NO_VERB = re.compile(
    r"^(?:the|an?)\s(?:[^\s,;:]+\s){0,4}(?:class|method|function|file|module|code|layer|component|need)"
    r"(?:\sin\s\S+|\s\([^)]*\))?\s(?:which|that|where|to)\s[^,;:]*$",
    re.IGNORECASE,
)
UNFINISHED = re.compile(r"(?:\.\.\.|…|:)$")
VAGUE = _any(r"^(?:it|this|that|they|these|those|there|which)\b(?:\s+\w+){0,5}[.!]?$", r"\buse[sd]? (?:it|this|that)\b")
TEXTBOOK = re.compile(r"^(\w[\w.+#-]*) (?:is|are) an? ", re.IGNORECASE)

# ---- Kinds ----

_TOOLS = (
    r"(?:npm|npx|yarn|pnpm|bun|uv|uvx|pip3?|pipx|poetry|python3?|node|deno|docker|docker-compose|podman|kubectl|helm|terraform|"
    r"tofu|ansible(?:-playbook)?|make|just|task|cargo|rustup|go|gradle|mvn|dotnet|git|gh|bundle|rake|rails|mix|php|composer|"
    r"artisan|flutter|dart|xcodebuild|pod|fastlane|adb|pytest|tox|nox|ruff|mypy|eslint|jest|vitest|playwright|dbt|alembic|"
    r"flask|django-admin|celery|psql|redis-cli|aws|gcloud|az|flyctl|fly|heroku|vercel|wrangler|pulumi|argocd|skaffold|bazel|"
    r"cmake|ctest|ninja|turbo|nx|lerna|prisma|airflow|spark-submit|\./[\w./-]+)"
)
COMMAND = re.compile(rf"^{_TOOLS}(?:\s+\S.*)?$")
QUOTED_COMMAND = re.compile(rf"`({_TOOLS}\s[^`\n]+)`")
# Commands that only look around.
TRIVIAL = re.compile(
    r"^git\s+(?:status|diff|log|show|add|commit|branch|checkout|switch|stash|blame|pull|push|fetch|reset|rev-parse)\b|"
    r"--version\b|--help\b"
)
ENDPOINT = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE)\s+(/[^\s`\"',;)]*)")
ROUTE = re.compile(r"\.(get|post|put|patch|delete|route)\(\s*[\"'](/[^\"']*)", re.IGNORECASE)
ACCESS_LOG = re.compile(r"HTTP/\d|\b\d+\s?ms$")

DECIDED = _any(
    r"\b(?:i|we|they|team|it was|was|were|have|has) (?:have |has |finally |therefore )?"
    r"(?:decided|chose|chosen|opted|settled on|went with|picked|agreed|ruled out|rejected)\b",
    r"^(?:decision:|the trade-?off\b)|\bdecision: |\btrade-?off: |\bagreed with\b|\bgoing forward\b|\bfrom now on\b",
    r"\b(?:we're|we are|we will be) (?:dropping|moving|keeping|switching)\b|\bwe (?:will|shall) \w+",
)
NO_DECISION = re.compile(r"\bdecided to (?:look|check|run|start|try|read|open|see|skip|wait|take)\b", re.IGNORECASE)
ALTERNATIVE = _any(r"\b(?:instead of|rather than|over|not in|ruled out|rejected|instead|overkill)\b")
REASON = _any(r"\b(?:because|since|so that|for its|due to|as it|after the|worth it)\b", r":\s")

_ENV = r"`?\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b`?"
_SETTING = (
    r"(?:timeout|limit|pool(?: size)?|ttl|retention|page size|interval|port|threshold|concurrency|quota|batch size|"
    r"max(?:imum)?|log level|replicas)"
)
_NUMBER = r"(?:\d[\d.,]*|one|two|three|four|five|ten)"
SET_TO = _any(
    r"\bdefaults? to\b|\bdefault \w+(?: \w+)? (?:is|are)\b|\blistens? on (?:port )?\d|\bon port \d",
    rf"\b{_SETTING} (?:is|are|of|=) {_NUMBER}|\bset to {_NUMBER}",
    rf"\b(?:limited to|capped at|at most|expires? after|times? out after) {_NUMBER}\b",
    r"\b(?:stored|written|kept|logged) (?:in|to|under) [`\"']?[~.]?/[\w./-]+",
)
BY_ENVIRONMENT = _any(
    rf"{_ENV}.*\b(?:must|has to|needs to|should) be set\b",
    rf"\b(?:[Ss]et|export|reads?|from|with|via|through|by|controls?|unset)\b.*{_ENV}",
    rf"{_ENV} (?:controls|enables|disables|is|sets|defaults)\b",
    case=True,
)
BY_DEFAULT = re.compile(r"\bby default\b", re.IGNORECASE)
VERSIONED = _any(
    r"(?<![+\-*/])\b[a-z][\w\]-]*\s?(?:==|>=|<=|~=)\s?v?\d|\^\d+\.\d",
    r"\b(?:pinned|locked) to\b|\bpins?\b.*\d",
    r"\b(?:requires?|needs?|depends? on|works only with)\b.*(?:\d+\.\d|\d\+|\b\d+ or (?:newer|later|above|higher))",
)
INSTALLED = _any(r"\b(?:requires?|needs?)\b.*\b(?:installed|on the (?:host|path))\b", r"\bdepends? on\b")
INSIGHT = _any(
    r"\b(?:root cause|key insight|lessons? learned|gotcha|caveat|pitfall|turn(?:s|ed) out|beware|keep in mind|note that)\b",
    r"\bthe (?:problem|issue|culprit|bug|trick|catch) (?:was|is that)\b|\bthe reason\b|\bas a result\b|\bin short\b",
    r"\bwhich is why\b|\bthat is why\b|^important:",
)
BECAUSE = _any(
    r"\b(?:because|so that|in order to|due to)\b", r"(?<!ever )(?<!^)\bsince (?!v?\d|the \w+ release|last|then)\b"
)
ARCHITECTURE = _any(
    r"\b(?:is|are) (?:handled|managed|resized|received|processed|served|triggered|orchestrated|exposed|split|composed) "
    r"(?:by|into|of|through)\b",
    r"\b(?:handles?|manages?|forwards?|communicates? with|talks? to|subscribes?|publishes|consumes?|consists? of|routes?|"
    r"delegates? to|wraps?|owns?|follows an?|goe?s? through|runs? behind|architecture|layers?)\b",
    r"\b(?:is|are) responsible for\b|\bsits? (?:behind|between|in front)\b|\bflows? (?:from|through|into)\b",
    r"\bha(?:s its|ve their) own\b",
)
STACK = _any(
    r"\b(?:written in|built (?:with|on)|(?:tech )?stack(?: is|:)|managed (?:with|by)|deployed (?:to|on)|done with|runs? on)\b",
    r"\b(?:tech )?stack:|\b(?:we run|project with|workspace with|using|uses?|powered by|based on)\b",
)
RULE = _any(
    r"\b(?:must(?: not| never)?|has to|have to|never|always|may only|(?:is|are) forbidden|not allowed)\b",
    r"\b(?:are|is|may|can|be) \w+(?: \w+){0,3} only\b|\bonly \w+ (?:may|can|must)\b",
    r"\b(?:requires?|needs?) (?:an? |the )?(?:running|working|valid|local|separate|explicit|`)",
)
FAILING = re.compile(r"\b(?:fails?|failed|failing|crash\w*)\b", re.IGNORECASE)
STATE = _any(
    r"\buses?\b|\blives? in\b|\bstores?\b|\bskips?\b|\bignores?\b|\bsingle source of truth\b",
    r"\b(?:is|are) (?:run|stored|partitioned|rebuilt|read|written|merged|kept|generated|built|deployed|formatted|hashed|"
    r"cached|indexed|versioned|encrypted|signed|reverted|idempotent|sorted|named|created|reviewed|tested)\b",
    r"\b(?:database|server|client|api|framework|language|broker|queue|cache|linter|orm) (?:is|are) ",
)
CODE = re.compile(r"`[^`]+`|\b\w+[_/.]\w+|[a-z][A-Z]|\d")
