"""What is known about command-line programs: other names, flags with two spellings, options with values, and wrappers of other commands.

Hooks import this at a command that may need a warning: plain tables, no imports.
"""

# Other names of a program, and the words it is short for.
ALIASES = {
    "pip3": ("pip",),
    "python3": ("python",),
    "py": ("python",),
    "nodejs": ("node",),
    "docker-compose": ("docker", "compose"),
    "podman-compose": ("podman", "compose"),
    "flyctl": ("fly",),
    "apt-get": ("apt",),
    "k": ("kubectl",),
    "tf": ("terraform",),
    "py.test": ("pytest",),
    "remove-item": ("rm",),
    "ri": ("rm",),
    "rd": ("rm", "-r"),
    "rmdir": ("rm", "-r"),
    "del": ("rm",),
    "erase": ("rm",),
    "copy-item": ("cp",),
    "copy": ("cp",),
    "move-item": ("mv",),
    "move": ("mv",),
    "mariadb": ("mysql",),
    "unlink": ("rm",),
}

SUBCOMMANDS = {
    "npm": {
        "i": "install",
        "in": "install",
        "ins": "install",
        "isntall": "install",
        "add": "install",
        "un": "uninstall",
        "rm": "uninstall",
        "r": "uninstall",
        "remove": "uninstall",
        "unlink": "uninstall",
        "t": "test",
        "tst": "test",
        "run-script": "run",
        "up": "update",
        "upgrade": "update",
        "x": "exec",
        "clean-install": "ci",
    },
    "pnpm": {
        "i": "install",
        "rm": "remove",
        "un": "remove",
        "uninstall": "remove",
        "up": "update",
        "upgrade": "update",
    },
    "yarn": {"up": "upgrade"},
    "bun": {"i": "install", "a": "add", "rm": "remove"},
    "cargo": {"b": "build", "t": "test", "r": "run", "c": "check", "rm": "remove"},
    "git": {"co": "checkout", "ci": "commit", "br": "branch", "st": "status", "stage": "add"},
    "brew": {"rm": "uninstall", "remove": "uninstall"},
    "helm": {"del": "uninstall", "delete": "uninstall"},
    "svn": {"ci": "commit", "co": "checkout"},
    "kubectl": {
        "po": "pods",
        "pod": "pods",
        "svc": "services",
        "service": "services",
        "deploy": "deployments",
        "deployment": "deployments",
        "ns": "namespaces",
        "namespace": "namespaces",
        "cm": "configmaps",
        "configmap": "configmaps",
        "pvc": "persistentvolumeclaims",
        "persistentvolumeclaim": "persistentvolumeclaims",
        "pv": "persistentvolumes",
        "persistentvolume": "persistentvolumes",
        "sts": "statefulsets",
        "statefulset": "statefulsets",
        "ds": "daemonsets",
        "daemonset": "daemonsets",
        "ing": "ingresses",
        "ingress": "ingresses",
        "no": "nodes",
        "node": "nodes",
        "secret": "secrets",
        "job": "jobs",
        "cronjob": "cronjobs",
        "cj": "cronjobs",
        "crds": "crd",
    },
}

# Long names of short flags, by program, or by program and subcommand.
FLAGS = {
    "rm": {"r": "recursive", "R": "recursive", "f": "force", "recurse": "recursive"},
    "cp": {"r": "recursive", "R": "recursive", "f": "force"},
    "mv": {"f": "force"},
    "chmod": {"R": "recursive"},
    "chown": {"R": "recursive"},
    "git push": {"f": "force", "d": "delete", "n": "dry-run", "u": "set-upstream"},
    "git commit": {"n": "no-verify", "a": "all", "m": "message", "q": "quiet"},
    "git merge": {"n": "no-stat", "m": "message"},
    "git clean": {"f": "force", "n": "dry-run", "q": "quiet"},
    "git add": {"A": "all", "n": "dry-run", "f": "force", "u": "update", "p": "patch"},
    "git rm": {"n": "dry-run", "f": "force"},
    "git mv": {"n": "dry-run", "f": "force"},
    "git tag": {"a": "annotate", "d": "delete", "f": "force", "s": "sign", "l": "list", "n": "list", "m": "message"},
    "git branch": {"D": "delete force", "d": "delete", "f": "force", "M": "move force", "m": "move", "l": "list"},
    "git checkout": {"f": "force", "B": "b force"},
    "git switch": {"f": "force", "discard-changes": "force", "C": "c force"},
    "git rebase": {"i": "interactive"},
    "git stash": {"u": "include-untracked", "m": "message"},
    "git restore": {"S": "staged", "W": "worktree"},
    "git fetch": {"f": "force", "n": "no-tags"},
    "git": {"C": "C"},
    "docker compose": {"v": "volumes", "f": "file", "p": "project-name", "d": "detach"},
    "docker system": {"a": "all", "f": "force"},
    "docker image": {"a": "all", "f": "force"},
    "docker volume": {"a": "all", "f": "force"},
    "docker rm": {"f": "force", "v": "volumes"},
    "docker rmi": {"f": "force"},
    "docker push": {"a": "all-tags"},
    "npm": {"g": "global", "D": "save-dev", "f": "force", "E": "save-exact"},
    "pnpm": {"g": "global", "D": "save-dev", "r": "recursive", "P": "prod"},
    "pip": {"U": "upgrade", "r": "requirement", "e": "editable", "y": "yes"},
    "curl": {"k": "insecure", "o": "output"},
    "rsync": {"n": "dry-run", "a": "archive"},
    "make": {"n": "dry-run", "just-print": "dry-run", "recon": "dry-run", "B": "always-make"},
    "helm": {"n": "namespace", "f": "values", "i": "install"},
    "kubectl": {"n": "namespace", "f": "filename", "A": "all-namespaces", "l": "selector", "k": "kustomize", "R": "recursive"},
    "ansible-playbook": {"l": "limit", "C": "check", "i": "inventory", "b": "become", "D": "diff"},
    "ansible": {"l": "limit", "C": "check", "i": "inventory", "b": "become"},
    "sed": {"i": "in-place", "n": "quiet"},
    "pg_restore": {"c": "clean", "a": "data-only", "d": "dbname", "f": "file", "l": "list"},
    "tar": {"r": "append", "f": "file", "d": "diff", "R": "block-number", "a": "auto-compress"},
    "grep": {"f": "file", "a": "text", "d": "directories"},
    "tail": {"f": "follow"},
    "ls": {"a": "all", "r": "reverse", "d": "directory"},
    "docker": {"d": "detach", "f": "file", "a": "all"},
    "ssh": {"f": "background", "a": "no-agent", "g": "gateway"},
    "psql": {"a": "echo-all", "f": "file", "d": "dbname"},
    "date": {"d": "date", "r": "reference", "f": "file"},
    "jq": {"r": "raw-output", "a": "ascii", "f": "from-file"},
    "xargs": {"r": "no-run-if-empty", "a": "arg-file", "d": "delimiter"},
    "perl": {"i": "in-place"},
    "yq": {"i": "inplace"},
    "prisma": {"f": "force"},
    "apt": {"y": "yes", "s": "dry-run", "simulate": "dry-run"},
    "gcloud": {"q": "quiet"},
    "twine": {"r": "repository"},
    "cargo": {"p": "package", "n": "dry-run"},
    "alembic": {"sql": "dry-run", "c": "config"},
    "pytest": {"co": "collect-only", "n": "numprocesses"},
    "bash": {"n": "dry-run"},
    "sh": {"n": "dry-run"},
}  # fmt: skip

# Options that take the next word as their value. Other options may: see `anatomy`.
VALUED = {
    "git": "C c git-dir work-tree namespace exec-path config-env",
    "git commit": "m message F file C c t template author date fixup squash reedit-message reuse-message cleanup",
    "git push": "o push-option repo receive-pack exec",
    "git tag": "m message F file u local-user cleanup sort format",
    "git log": "n max-count author grep since until format S G L",
    "git merge": "m message F file s strategy X strategy-option",
    "git rebase": "onto s strategy X strategy-option x exec",
    "git stash": "m message",
    "git checkout": "b B conflict",
    "git switch": "c C conflict",
    "git restore": "s source",
    "git clean": "e exclude",
    "make": "C f I o W directory file j jobs l",
    "docker": "H host context config l log-level",
    "docker compose": "f file p project-name project-directory env-file profile",
    "kubectl": "n namespace context cluster user kubeconfig s server f filename l selector o output c container k as token timeout grace-period field-selector",
    "helm": "n namespace kube-context kubeconfig f values set set-string version timeout",
    "npm": "prefix C w workspace registry tag access loglevel otp",
    "pnpm": "C dir F filter registry tag access",
    "yarn": "cwd registry tag",
    "pytest": "k m n p c o W W rootdir confcutdir ignore deselect maxfail durations tb cov junitxml basetemp numprocesses timeout",
    "uv": "with with-requirements with-editable python p group extra package directory project env-file index default-index index-url only-group no-group",
    "uvx": "from with python p",
    "npx": "p package",
    "poetry": "C directory P project",
    "pip": "r requirement c constraint i index-url extra-index-url t target e editable",
    "cargo": "p package features F manifest-path target token color Z config bin example profile j jobs registry",
    "alembic": "c config x n name",
    "gh": "R repo B base t title b body F body-file",
    "aws": "profile region endpoint-url output ca-bundle",
    "gcloud": "project account configuration format region zone",
    "redis-cli": "h p n a u s r i user pass",
    "mysql": "h u P D S e host user port database socket",
    "psql": "h p U d c f v o L F R T host port username dbname command file set variable output",
    "terraform": "target var var-file out state backend-config lock-timeout parallelism",
    "ansible-playbook": "i inventory l limit e extra-vars t tags u user f forks vault-password-file private-key skip-tags",
    "systemctl": "n lines H host M machine t type p property o output s signal",
    "fly": "a app c config o org r region",
    "vault": "mount namespace address",
    "rsync": "e rsh exclude include f filter files-from exclude-from",
    "ssh": "i p l o F J L R D b c E e I m O Q S W w",
    "sed": "e expression f file",
    "perl": "e E M I",
    "python": "m c W X",
    "node": "e eval r require p print loader import",
    "ruby": "e I r",
    "php": "r d c",
    "twine": "r repository repository-url u username p password c comment config-file",
    "chown": "reference from",
    "find": "name iname path ipath type maxdepth mindepth mtime mmin size newer user group perm regex",
    "dropdb": "h p U host port username maintenance-db",
    "just": "f justfile d working-directory",
    "tee": "",
    "dbt": "s select m models target t profiles-dir project-dir exclude vars",
    "celery": "A app b broker Q queues l loglevel",
}  # fmt: skip

SINGLE_DASH = frozenset({"terraform", "tofu", "find", "go", "java", "flyway", "packer", "consul", "vault", "nomad", "xcodebuild", "dism"})  # fmt: skip
# Flags with which a command only reports what it would do, or explains itself.
HARMLESS = frozenset({"help", "dry-run", "dryrun", "dry_run", "version", "what-if", "whatif", "noop", "simulate", "syntax-check", "collect-only", "usage"})  # fmt: skip
HARMLESS_OF = {
    "ansible-playbook": ("check", "list-hosts", "list-tasks"),
    "ansible": ("check", "list-hosts"),
    "ruff": ("diff",),
    "black": ("check", "diff"),
    "isort": ("check", "check-only", "diff"),
    "prettier": ("check", "c", "l"),
    "git": ("abort", "quit"),
    "rails": ("T",),
    "rake": ("T", "n"),
}  # fmt: skip

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "ash"})
INTERPRETERS = frozenset({"python", "node", "ruby", "perl", "php", "deno", "bun", "tsx", "ts-node", "Rscript", "elixir", "lua"})  # fmt: skip
SQL_CLIENTS = frozenset({"psql", "mysql", "sqlite3", "sqlcmd", "mssql-cli", "pgcli", "mycli", "duckdb", "clickhouse-client", "bq", "cqlsh", "usql", "snowsql", "trino", "sqlplus", "cockroach"})  # fmt: skip
SQL_VERBS = frozenset({"drop", "delete", "truncate", "alter", "update", "insert", "create", "grant", "revoke", "vacuum", "reindex", "merge", "replace"})  # fmt: skip
# Programs whose words are all targets: no subcommand comes first.
PLAIN = frozenset(
    "rm cp mv ln dd tee cat chmod chown kill pkill killall make gmake just task rake rails invoke nox tox mage ant gradle gradlew mvn mvnw pytest "
    "dropdb createdb find fd sed awk perl curl wget rsync scp ssh touch truncate shred ansible-playbook tar unzip zip black isort mypy eslint "
    "prettier tsc jest vitest rspec tail head less grep rg ls echo printf python node ruby bash sh".split()
)
# Programs that only print or search; a flag they are given does nothing.
READERS = frozenset(
    "echo printf cat bat head tail less more grep egrep fgrep rg ag ack ls tree wc man which type whatis apropos tldr file stat diff jq help info".split()
)

# Wrappers: options with values, and how many words come before the wrapped command.
WRAPPERS = {
    "sudo": ("u g h p C r t T D R user group host prompt chdir", 0),
    "doas": ("u C", 0),
    "env": ("u unset C chdir S", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "exec": ("a", 0),
    "nohup": ("", 0),
    "setsid": ("", 0),
    "time": ("f o format output", 0),
    "gtime": ("f o", 0),
    "nice": ("n adjustment", 0),
    "ionice": ("c n p", 0),
    "timeout": ("k s kill-after signal", 1),
    "gtimeout": ("k s kill-after signal", 1),
    "stdbuf": ("i o e", 0),
    "unbuffer": ("", 0),
    "xargs": ("n I P L s d a E max-args max-procs replace delimiter", 0),
    "parallel": ("j jobs", 0),
    "flock": ("w E timeout", 1),
    "chronic": ("", 0),
    "caffeinate": ("t w", 0),
    "strace": ("e o p s", 0),
    "xvfb-run": ("n s e", 0),
    "uvx": ("from with python p", 0),
    "bunx": ("", 0),
    "npx": ("p package", 0),
    "wsl": ("d u", 0),
    "then": ("", 0),
    "dotenv": ("f file", 0),
    "faketime": ("", 1),
    "retry": ("t d", 0),
    "with-env": ("", 0),
}
# The same for wrappers of two words.
RUNNERS = {
    ("uv", "run"): VALUED["uv"],
    ("poetry", "run"): "",
    ("pipenv", "run"): "",
    ("hatch", "run"): "",
    ("pdm", "run"): "",
    ("rye", "run"): "",
    ("pixi", "run"): "e environment",
    ("pipx", "run"): "spec",
    ("conda", "run"): "n p name prefix",
    ("mamba", "run"): "n p name prefix",
    ("pnpm", "exec"): "",
    ("pnpm", "dlx"): "",
    ("yarn", "exec"): "",
    ("yarn", "dlx"): "",
    ("npm", "exec"): "p package",
    ("bun", "x"): "",
    ("bundle", "exec"): "",
    ("mise", "exec"): "",
    ("mise", "x"): "",
    ("asdf", "exec"): "",
    ("op", "run"): "env-file",
    ("doppler", "run"): "p c project config",
    ("infisical", "run"): "env path",
    ("direnv", "exec"): "",
    ("aws-vault", "exec"): "",
    ("heroku", "run"): "a app",
    ("dotnet", "tool"): "",
}
SKIPPED = {("direnv", "exec"): 1, ("aws-vault", "exec"): 1}
# Containers: options with values of `run` and `exec`; the image, service, container or pod comes before the command.
CONTAINER = (
    "v e p w u l m h name network volume env workdir user platform entrypoint mount env-file add-host hostname label gpus memory cpus "
    "shm-size ulimit restart link expose device cap-add pull publish index n namespace c container context"
)
PACKAGE_COMMANDS = {
    "pnpm": frozenset(
        "add install i update up upgrade remove rm un uninstall link unlink import rebuild prune fetch patch audit list ls outdated why "
        "run test t start publish pack exec dlx create store root bin setup init config deploy licenses env dedupe approve-builds".split()
    ),
    "yarn": frozenset(
        "add install upgrade up remove link unlink audit list outdated why run test start publish pack exec dlx create cache config init info "
        "version workspace workspaces npm node set plugin dedupe import global bin import".split()
    ),
    "bun": frozenset("add install i remove rm update link unlink run test x create init build pm publish outdated a upgrade".split()),
}  # fmt: skip
# Programs that a text names without backticks or in a command's first word; with the others, two words are needed.
KNOWN = frozenset(
    "git gh glab hg svn npm pnpm yarn bun npx pip pipx uv uvx poetry pipenv hatch pdm conda twine flit cargo rustup go make just docker podman "
    "docker-compose kubectl helm kustomize terraform tofu terragrunt pulumi ansible ansible-playbook packer vault consul nomad aws gcloud gsutil bq az "
    "doctl fly flyctl heroku vercel netlify wrangler firebase serverless sls cdk sam eksctl psql pg_dump pg_restore pg_ctl dropdb createdb mysql "
    "mysqldump sqlite3 redis-cli mongo mongosh alembic flyway liquibase prisma knex sequelize rails rake bundle gem mix composer artisan php dbt "
    "airflow celery pytest tox nox jest vitest cypress playwright mypy ruff black isort eslint prettier tsc webpack vite gradle gradlew mvn mvnw sbt "
    "dotnet msbuild swift xcodebuild pod fastlane flutter dart adb rm cp mv dd chmod chown kill pkill killall systemctl service journalctl launchctl "
    "crontab rsync scp ssh sftp curl wget sed awk perl find xargs tar apt apt-get yum dnf brew pacman snap choco winget mkfs fdisk parted mount umount "
    "iptables ufw nginx certbot openssl gpg semantic-release lerna nx turbo changeset bazel buck ninja cmake meson holdfast manage.py python python3 node "
    "etcdctl kafka-topics rabbitmqctl skaffold argocd flux istioctl velero sops age rclone aws-vault nixos-rebuild nix tmux screen truncate shred "
    "clickhouse-client duckdb snowsql cqlsh sqlcmd influx elasticdump".split()
)
