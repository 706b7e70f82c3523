"""Word lists with a meaning for policy: opposites, environments, verbs, and technologies by purpose."""

from collections.abc import Mapping

# Words that negate a sentence. They carry no content of their own.
NEGATORS = frozenset(
    """
    not never no nobody none nothing nowhere neither nor without cannot avoid avoids avoided avoiding skip skips skipped
    skipping ignore ignores ignored ignoring forget lack lacks lacking stop stops stopped refuse refuses outside except
    missing fail fails failed failing dont doesnt didnt isnt arent wasnt werent cant wont wouldnt shouldnt mustnt hasnt
    havent omit omits omitted hardly unless
    """.split()
)
# Words of permission and duty: only whether they grant or deny matters.
GRANTS = frozenset(
    """
    can may must should shall will would could allowed allow allows permitted permit permits fine ok okay welcome
    encouraged open free recommended advised prefer preferred prefers always only do does did succeed succeeds succeeded
    """.split()
)
MODALS = frozenset("can may must should shall will would could cannot".split())
DENIES = frozenset(
    """
    forbidden forbid forbids banned ban bans prohibited prohibit prohibits disallowed disallow disallows blocked block blocks
    discouraged denied deny denies
    """.split()
)
UNIVERSAL = frozenset("never always nobody none nothing anymore longer all every any".split())
# Form -> (topic, 1 if it affirms the topic or -1 if it denies it).
OPPOSITES: Mapping[str, tuple[str, int]] = {
    form: (about, sign)
    for about, affirming, denying in (
        (
            "enable",
            "enable enables enabled enabling activated activate",
            "disable disables disabled disabling deactivated off",
        ),
        ("accept", "accept accepts accepted accepting", "reject rejects rejected rejecting"),
        ("include", "include includes included including", "exclude excludes excluded excluding"),
        ("need", "need needs needed require requires required requiring mandatory", "optional"),
        ("sync", "sync synchronous synchronously", "async asynchronous asynchronously"),
        ("lazy", "lazy lazily", "eager eagerly"),
        ("safe", "safe", "unsafe"),
        ("support", "support supports supported supporting", "unsupported"),
        ("mutable", "mutable", "immutable"),
        ("public", "public publicly", "private privately"),
        ("sticky", "sticky", "non-sticky"),
        ("idempotent", "idempotent", "non-idempotent"),
        ("stateful", "stateful", "stateless"),
        ("block", "blocking", "non-blocking nonblocking"),
        ("nullable", "nullable", "non-nullable non-null"),
        ("ordered", "ordered sorted", "unordered unsorted"),
        ("strict", "strict strictly", "lenient loose loosely"),
        ("automatic", "automatic automatically", "manual manually"),
        ("increase", "increase increases increased raises raised", "decrease decreases decreased lowers lowered"),
        ("sensitive", "case-sensitive", "case-insensitive"),
        ("used", "used", "unused"),
        ("encrypted", "encrypted", "unencrypted plaintext"),
        ("reversible", "reversible", "irreversible"),
        ("thread-safe", "thread-safe", "thread-unsafe"),
    )
    for forms, sign in ((affirming, 1), (denying, -1))
    for form in forms.split()
}

# Environments: a statement about one does not apply to another.
ENVIRONMENTS = frozenset(
    """
    staging production development local locally ci qa uat sandbox canary preview nightly-build android ios linux macos
    windows safari chrome firefox desktop tablet debug arm64 amd64 x86 eu us apac
    """.split()
)
# Verbs with little meaning: two statements may differ in them and mean the same.
LIGHT_VERBS = frozenset(
    """
    is are was were be been being has have had having get gets got does do did make makes made use uses used using run runs
    running ran go goes went come comes take takes took give gives gave set sets keep keeps kept live lives stay stays
    reside resides sit sits happen happens hold holds work works done handle handled handles
    """.split()
)
VERBS = LIGHT_VERBS | frozenset(
    """
    default defaults listen listens own owns expire expires store stores stored need needs require requires support supports
    depend depends target targets write writes written read reads talk talks send sends sent return returns log logs include
    includes contain contains trigger triggers triggered deploy deploys deployed build builds built back backed host hosts
    hosted serve serves served manage manages managed poll polls retry retries branch branches merge merges cache caches
    pin pins pinned format formats formatted indent indents maintain maintains lead leads start starts end ends close closes
    call calls called name named base based allow allows accept accepts reject rejects enable enables disable disables load
    loads loaded import imports imported export exports exported throw throws give gives delete deletes deleted mark marks
    waits wait guarantee guarantees enforce enforces enforced ignore ignores skip skips avoid trim trims move moved switch
    switched migrate migrated replace replaced rename renamed became become becomes reads report reports reported
    partitioned hashed encrypted compressed generated rendered tracked kept stands refreshed refresh calculated tested
    scraped pushed templated scheduled cut time times commit push edit publish wiped expose exposes exposed
    """.split()
)
FUNCTION_WORDS = frozenset(
    """
    a an the this that these those it its they them their there we our us you your i my he she his her who which what and
    or but so then also too just very as at by for from in into of on onto over to up with within via than through per
    both each if when while because since until although though here now still yet even itself themselves such
    """.split()
)
# Predicates that may have several values at once. Two values of a class (two databases) still conflict in the
# first group, never in the second.
MANY_VALUED = frozenset(
    """
    use uses used using look looks talk talks call calls called read reads affect show shown reference referenced share
    shared expose exposed test tested check checked need needs require requires given send sends go goes emit emits publish
    """.split()
)
OPEN_ENDED = frozenset(
    """
    support supports supported include includes included contain contains log logs logged accept accepts depend depends
    cover covers covered know knows import imports imported cause causes caused mention mentions export exports
    """.split()
)
# Predicates with one value at a time, used with a preposition: lives in, defaults to.
ONE_VALUED = frozenset(
    """
    live lives default defaults listen listens expire expires target targets reside resides sit sits point points belong
    belongs stay stays indent indents end ends resolve resolves bind binds
    """.split()
)
# Nouns that have one value at a time.
SLOTS = frozenset(
    """
    linter formatter manager database db warehouse framework language branch format version owner host region name prefix
    suffix path port locale default entry point timeout limit size engine runner bundler backend broker registry provider
    lead maintainer reviewer directory folder file channel level interval encoding timezone zone currency namespace
    cluster tool compiler runtime orchestrator editor theme strategy protocol algorithm base colour color threshold
    """.split()
)
ALIASES: Mapping[str, str] = {
    "postgresql": "postgres",
    "db": "database",
    "js": "javascript",
    "ts": "typescript",
    "k8s": "kubernetes",
    "prod": "production",
    "dev": "development",
    "repo": "repository",
    "config": "configuration",
    "docs": "documentation",
    "env": "environment",
    "auth": "authentication",
    "golang": "go",
    "colour": "color",
    "e2e": "end-to-end",
    "max": "maximum",
    "min": "minimum",
    "locally": "local",
    "behaviour": "behavior",
}

_CLASSES = {
    "database": "postgres mysql mariadb sqlite mongodb mongo cockroachdb oracle dynamodb cassandra firestore planetscale duckdb",
    "warehouse": "redshift bigquery snowflake databricks clickhouse",
    "cache": "memcached redis valkey dragonfly",
    "queue": "rabbitmq sqs kafka nats pulsar activemq kinesis",
    "jobs": "celery sidekiq temporal rq bullmq airflow dagster prefect luigi",
    "search": "elasticsearch opensearch solr meilisearch typesense algolia",
    "package manager": "npm yarn pnpm bun poetry pip pipenv uv pip-tools conda",
    "test runner": "jest vitest mocha jasmine pytest unittest nose rspec minitest playwright cypress selenium",
    "linter": "eslint biome flake8 ruff pylint oxlint tslint",
    "formatter": "prettier black yapf gofmt dprint",
    "bundler": "webpack vite rollup parcel esbuild turbopack",
    "web framework": "django flask fastapi express koa nestjs rails sinatra spring ktor gin echo fiber axum actix laravel",
    "ui framework": "react vue angular svelte solid preact ember swiftui uikit flutter compose",
    "meta framework": "next.js nextjs remix nuxt gatsby astro sveltekit",
    "state": "redux zustand mobx recoil jotai pinia vuex riverpod bloc",
    "styling": "tailwind bootstrap sass emotion styled-components bulma",
    "language": "python go rust java kotlin ruby javascript typescript scala elixir swift php perl dart groovy",
    "ci": "jenkins travis circleci buildkite teamcity drone github-actions",
    "cloud": "aws gcp azure heroku vercel netlify render",
    "orchestration": "kubernetes nomad ecs swarm",
    "infrastructure as code": "terraform pulumi cloudformation ansible chef puppet",
    "templates": "helm kustomize jsonnet",
    "error tracking": "sentry rollbar bugsnag",
    "paging": "pagerduty opsgenie",
    "flags": "launchdarkly unleash flagsmith split",
    "identity": "auth0 keycloak okta cognito clerk",
    "password hash": "bcrypt argon2 argon2id scrypt pbkdf2 md5 sha1",
    "transport": "rest graphql grpc soap trpc",
    "data format": "json yaml toml xml csv parquet avro protobuf",
    "key style": "camelcase snake_case kebab-case pascalcase",
    "indentation": "tabs spaces",
    "orm": "sqlalchemy prisma typeorm sequelize drizzle hibernate",
    "mail": "mailgun postmark sendgrid ses",
    "tickets": "jira linear zendesk asana",
    "web server": "nginx apache caddy traefik envoy",
    "metrics": "prometheus datadog grafana newrelic",
    "git hosting": "github gitlab bitbucket",
    "cluster": "eks gke aks fargate",
    "functions": "lambda cloudflare",
    "container": "docker podman",
    "build tool": "maven gradle bazel sbt cmake meson ninja scons",
    "delivery": "argocd flux spinnaker octopus",
    "secret store": "vault doppler sops infisical",
    "logs": "loki splunk graylog papertrail",
    "payments": "stripe adyen braintree paypal",
    "analytics": "posthog mixpanel amplitude matomo",
    "documentation site": "docusaurus mkdocs sphinx vitepress",
    "ml serving": "torchserve vllm triton sglang ollama",
    "object store": "s3 gcs minio",
    "direction": "up down",
    "time zone": "utc gmt cet est pst localtime",
    "human language": "english german french spanish portuguese italian dutch chinese japanese korean russian",
}
# Technology -> its class. Two of a class answer the same question; two of different classes do not.
TECHNOLOGIES: Mapping[str, str] = {name: kind for kind, names in _CLASSES.items() for name in names.split()}

# Labels whose number is a name: step 3 and step 4 are two things, not two values.
LABELS = frozenset(
    """
    step phase shard issue pr ticket invoice chapter stage part rule section adr sprint case tier line day figure table
    example node replica test number no item task point question note entry milestone
    """.split()
)
# Names that are ordinary words too: they count only if they are not written in lower case.
AMBIGUOUS = frozenset(
    """
    go solid compose render echo split linear chef puppet temporal express fiber spring swift drone rest emotion dart helm ember parcel lambda
    triton falcon gin unleash clerk remix astro est black rails swarm
    """.split()
)
# Words that only name the class of a technology, or what is done with it: they do not narrow what a sentence is about.
CLASS_WORDS: Mapping[str, str] = {
    "database": "database databases db data base datos datenbank données dados banco banque store",
    "indentation": "indent indentation indenting code four two eight width",
    "cloud": "host hosted hosting infrastructure live deploy deployed production cloud provider servers services region",
    "ci": "ci pipeline pipelines build builds continuous integration job jobs",
    "package manager": "package packages dependency dependencies install installed installs manage managed manager lock",
    "test runner": "test tests testing suite runner written",
    "linter": "lint linter linting linted code style check",
    "formatter": "format formatter formatting formatted code style",
    "orchestration": "orchestrator orchestrate orchestration schedule schedules container containers scheduler",
    "mail": "mail mails email emails send sends sent message transactional delivery",
    "git hosting": "repository repositories git host hosted code",
    "transport": "service services talk communicate between internal other each call api apis",
    "error tracking": "error errors tracking report reported exceptions tracker",
    "paging": "page paging alert alerts on-call oncall",
    "tickets": "ticket tickets issue issues track tracked tracker",
    "bundler": "bundle bundler bundled assets",
    "infrastructure as code": "infrastructure provision provisioned provisioning code",
    "container": "container containers image images",
    "key style": "written name named style case",
    "human language": "written language",
}
# Classes of which a project has one.
SOLE = frozenset(
    "indentation|cloud|ci|package manager|linter|formatter|orchestration|git hosting|test runner|error tracking|paging|tickets|bundler|mail".split(
        "|"
    )
)
DATA_STORES = frozenset({"database", "cache", "search", "object store", "warehouse"})
# Words that say nothing about which thing is meant.
GENERIC = frozenset(
    """
    project repository repo codebase base app application everything everywhere team environment version versions minimum maximum newer newest
    older least most default currently now here there thing things value number amount time times total attempt attempts limit limited
    called named name written valid enough rate per each our new afternoon  morning directly direct one must port ports about roughly listen listens listening bind binds serve serves served require
    requires required expose exposes expire expires run runs running need needs needed happen happens send sends
    above below under after before threshold ttl lifetime lasts last allowed long latest held place out sent
    """.split()
)
# A month says since when something holds, not what it is about.
MONTHS = frozenset(
    """
    january february march april may june july august september october november december januar februar märz mai juni juli
    oktober dezember enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre janvier février mars
    avril juin juillet août septembre octobre novembre décembre janeiro fevereiro março maio junho julho setembro outubro novembro
    dezembro января февраля марта апреля мая июня июля августа сентября октября ноября декабря
    """.split()
)
FOREIGN_NEGATORS = frozenset(
    """
    nicht kein keine keinen keinem keiner keines nie niemals ohne verboten untersagt nunca jamás sin tampoco prohibido ningún ninguna ninguno
    pas jamais aucun aucune sans interdit não nao nenhum nenhuma sem proibido jamais non mai senza vietato nessun nessuna niet geen nooit zonder
    не нет никогда без нельзя запрещено nie nigdy bez żaden inte aldrig ingen inget utan değil asla yok tidak jangan bukan tanpa
    """.split()
)
FOREIGN_FUNCTION_WORDS = frozenset(
    """
    der die das den dem des ein eine einen einem einer und oder ist sind war wird werden wir ihr sie es im in am an auf aus bei mit nach von vor zu zum
    zur für als auch nur noch darf dürfen muss müssen soll sollen kann können immer jeden jede jeder jedes man hier durch läuft laufen
    el la los las un una unos unas y o es son de del al en con por para se que lo su sus hay está están puede pueden debe deben siempre cada después antes
    le les une des et ou est sont du au aux dans avec pour sur par ce cette il elle on faut doit doivent peut peuvent toujours chaque ne n'est
    os as um uma e ou é são do da dos das no na nos nas com por para que se ao pode podem deve devem sempre cada usamos fazer hacer
    il gli lo uno di del della dei nel nella con per si può deve sempre ogni het een de en of is zijn van op met voor wij altijd elke
    и в на с по для из к от мы это всегда каждый można zawsze jest są vi är på med för alltid varje
    """.split()
)
