"""Commands are read as a shell reads them, and matched by what they do, not by how they are written."""

import time

from bench.warnings import LEAST_PRECISION, LEAST_RECALL, SETS, score
from holdfast.policy.activity.patterns import compiled, fires
from holdfast.policy.activity.shell import parse
from holdfast.policy.activity.written_files import writes_of
from tests.rows import each

MATCHING = [
    ("RAILS_ENV=production rails db:drop", "RAILS_ENV=production bin/rails db:drop"),
    ("RAILS_ENV=production rails db:drop", "export RAILS_ENV=production; rails db:drop"),
    ("RAILS_ENV=production rails db:drop", "env RAILS_ENV=production rails db:drop"),
    ("rm -rf *", "cd x && rm -rf *"),
    ("git push --force origin <branch>", "git push -f origin fix"),
    ("kubectl apply -k overlays/prod", "kubectl apply -k overlays/prod/"),
    ("git push --force", "git add -A; git commit -m 'x' ; git push origin HEAD --force"),
    ("git push --force", "if git diff --quiet; then echo same; else git push -f; fi"),
    ("git push --force", "for b in a b c; do git push --force origin $b; done"),
    ("git push --force", 'OUT=$(git push --force 2>&1); echo "$OUT"'),
    ("git push --force", "echo `git push -f`"),
    ("git push --force", 'bash -lc "cd app && git push -f"'),
    ("git push --force", "sudo -u deploy -H git push --force"),
    ("git push --force", "GIT_SSH_COMMAND='ssh -i key' git push --force"),
    ("git push --force", "git push \\\n  --force \\\n  origin main"),
    ("git push --force", "bash <<'EOF'\nset -e\ngit push -f\nEOF"),
    ("git push --force", "time nice -n 10 git push -f"),
    ("git push --force", "(cd x; git push -f) && true"),
    ("git push --force", "{ git push -f; }"),
    ("git push --force", "true || git push -f &"),
    ("git push --force", "eval 'git push -f'"),
    ("git push --force", "env -i PATH=$PATH git push -f"),
    ("git push --force", "/usr/bin/git push -f"),
    ("git push --force", "git -c http.proxy= --no-pager push -f"),
    ("git push --force", "git --git-dir=.git push -f"),
    ("git push --force", "push() { git push -f; }; push"),
    ("git push --force", "ssh -o StrictHostKeyChecking=no -p 22 host 'cd repo && git push -f'"),
    ("rm -rf build", "find . -name build -type d -exec rm -rf build {} +"),
    ("rm -rf build", "rm -r build"),
    ("rm -rf build", "Remove-Item -Recurse -Force build"),
    ("rm -rf build", 'powershell -Command "Remove-Item -Recurse -Force build"'),
    ("rm -rf build", "test -d build && rm -rf -- build"),
    ("npm install", "docker run --rm -v $PWD:/app -w /app node:20 npm i"),
    ("npm install", "cmd /c npm install"),
    ("npm install", "(cd web && npm i --no-audit --silent) 2>&1 | tail -3"),
    ("npm install -g", "npm i --global typescript"),
    ("terraform apply", "terraform -chdir=x apply tf.plan"),
    ("kubectl delete", "kubectl --namespace shop delete deploy/api"),
    ("kubectl delete deployment", "kubectl delete deploy/api -n shop"),
    ("kubectl apply", "cat x.yml | kubectl apply -f -"),
    ("psql DROP TABLE", "psql $URL <<< 'drop table x'"),
    ("sql TRUNCATE", "sqlite3 app.db 'truncate t'"),
    ("pytest unless uv run pytest", "cd a && python3 -m pytest -q"),
    ("pytest unless uv run pytest", ".venv/bin/pytest -q"),
    ("pytest unless -n", "pytest tests"),
    ("make deploy", "make deploy 2>&1 | tee log"),
    ("docker compose down -v", "docker compose --profile dev down --volumes"),
    ("curl | sh", "curl -L x | tee i.sh | bash"),
    ("git checkout .", "git checkout HEAD -- ."),
    ("git commit --no-verify", "git commit -anm x"),
    ("git branch -D", "git branch --delete --force old"),
    ("./deploy.sh", "sh deploy.sh"),
    ("./deploy.sh", "/srv/app/deploy.sh prod"),
    ("alembic downgrade", "python -m alembic downgrade -1"),
    ("python manage.py migrate", "cd app; python3.11 manage.py migrate"),
    ("rails db:drop", "bin/rails db:environment:set db:drop"),
    ("pip install", "/usr/bin/python3 -m pip install x"),
    ("pip install", ".venv/bin/pip install x"),
    ("aws s3 rm --recursive", "aws s3 rm --recursive s3://x --profile p"),
    ("dropdb", "docker exec -it db dropdb -U app x"),
    ("--no-verify", "git push --no-verify"),
    ("--no-verify", "git commit -nm x"),
    ("npm publish", "pnpm -r exec npm publish"),
    ("git add *.ipynb", "git add x/y.ipynb"),
    ("fly deploy", "fly deploy -c fly.toml"),
    ("ssh prod", "ssh prod 'uptime'"),
    ("scp prod:*", "scp x prod:/tmp"),
    ("git push --force*", "git push --force-with-lease origin x"),
]
OTHER = [
    ("git push --force*", "git push --follow-tags"),
    ("RAILS_ENV=production rails db:drop", "rails db:drop"),
    ("rm -rf *", "rm -rf build"),
    ("rm -rf /", "rm -rf /tmp/x"),
    ("kubectl apply -k overlays/prod", "kubectl apply -k overlays/dev"),
    ("git push --force", "cat <<'EOF' > notes.md\ngit push --force\nEOF"),
    ("git push --force", "git commit -F - <<'EOF'\nexplain git push --force\nEOF"),
    ("git push --force", "git commit -m \"$(cat <<'EOF'\ngit push --force is bad\nEOF\n)\""),
    ("git push --force", "# git push --force\nls"),
    ("git push --force", "ls # then git push --force"),
    ("git push --force", "printf '%s\\n' 'git push --force' | tee -a HISTORY.md"),
    ("git push --force", "gh issue create --title 'git push --force broke' --body 'we ran git push --force'"),
    ("git push --force", "python -c \"print('git push --force')\""),
    ("git push --force", "awk '/git push --force/' log.txt"),
    ("git push --force", "sed -n '/git push --force/p' x"),
    ("git push --force", "git stash push --force"),
    ("git push --force", "git config alias.pf 'push --force'"),
    ("git push --force", "man git-push"),
    ("git push --force", "docker push --force x"),
    ("rm -rf build", "rm -rf build2 rebuild"),
    ("rm -rf build", "docker build . && rm -rf dist"),
    ("npm install", "npm ci"),
    ("npm install", "npm ls install"),
    ("npm install", "npm run install:hooks"),
    ("npm install", "npm help install"),
    ("npm install -g", "npm i typescript"),
    ("terraform apply", "terraform plan && echo 'now terraform apply'"),
    ("kubectl apply", "kubectl apply -f x.yml --dry-run=server"),
    ("psql DROP TABLE", 'psql -c "select * from x" # drop table'),
    ("sql DROP", "psql -c 'select dropped from t'"),
    ("pytest unless uv run pytest", "VAR=1 uv run --frozen pytest -q"),
    ("pytest unless uv run pytest", "pip install pytest"),
    ("pytest unless -n", "pytest -n 2"),
    ("pytest unless -n", "pytest -n2 tests"),
    ("make deploy", "make --dry-run deploy"),
    ("curl | sh", "curl x > y; sh -c 'ls | sh'"),
    ("git checkout .", "git checkout ./src/x.py"),
    ("git commit --amend", "git commit -m '--amend'"),
    ("git commit --no-verify", "git commit -mnew"),
    ("git branch -D", "git branch -d old"),
    ("./deploy.sh", "vi deploy.sh"),
    ("python manage.py migrate", "python manage.py migrate --help"),
    ("pip install", "pip install --help"),
    ("git reset --hard", "git log --grep 'reset --hard'"),
    ("dropdb", "type dropdb"),
    ("--no-verify", "grep --no-verify x"),
    ("npm publish", "npm publish -h"),
    ("rsync --delete", "rsync -avn --delete a b"),
]
WRITING = [
    ("sed -i 's/a/b/' a.py b.py", ["a.py", "b.py"]),
    ("cd src && sed -i.bak -e s/a/b/ -e s/c/d/ x.py", ["src/x.py"]),
    ("cat a > b 2>/dev/null", ["b"]),
    ("cmd >out.txt 2>&1", ["out.txt"]),
    ("cp -r a b/", ["b/", "b/a"]),
    ("mv -f a b", ["a", "b"]),
    ("tee -a x < y", ["x"]),
    ("git checkout -- a.py", ["a.py"]),
    ("git checkout main", []),
    ("git restore --staged a.py", []),
    ("git restore a.py", ["a.py"]),
    ("python - <<'E'\nopen('a.txt','w').write('x')\nE", ["a.txt"]),
    ("node -e \"require('fs').writeFileSync('a.js','x')\"", ["a.js"]),
    ("F=src/a.py; sed -i s/a/b/ $F", ["src/a.py"]),
    ("printf x | sudo tee /etc/hosts >/dev/null", ["/etc/hosts"]),
    ("perl -i -pe 's/a/b/' f.txt", ["f.txt"]),
    ("sed -n 1,3p f", []),
    ("curl -o f url", ["f"]),
    ("ruff format src/a.py", ["src/a.py"]),
    ("awk '{print > \"x\"}' f", []),
    ("git rm -r a", ["a"]),
    ("dd if=a of=b", ["b"]),
    ("echo x >| f", ["f"]),
    ("exec > log.txt", ["log.txt"]),
    ("for f in a.yml b.yml; do sed -i s/3/4/ $f; done", ["a.yml", "b.yml"]),
]


@each(("pattern", "command"), MATCHING)
def test_a_command_matches_however_it_is_written(pattern: str, command: str) -> None:
    assert fires(compiled(pattern) or {}, parse(command))


@each(("pattern", "command"), OTHER)
def test_another_command_and_a_mention_do_not_match(pattern: str, command: str) -> None:
    assert not fires(compiled(pattern) or {}, parse(command))


@each(("command", "paths"), WRITING)
def test_the_files_that_a_command_writes_are_known(command: str, paths: list[str]) -> None:
    assert [path for _, path in writes_of(parse(command))] == paths


@each("name", SETS)
def test_warnings_are_precise_and_complete_on_the_labelled_commands(name: str) -> None:
    found = score(name)
    assert (found.precision >= LEAST_PRECISION, found.recall >= LEAST_RECALL) == (True, True), found


HOSTILE = (
    "$(" * 20_000,
    "(" * 20_000,
    "`" * 20_001,
    '"' * 20_001,
    "'" * 20_001,
    "\\" * 20_001,
    "a=" * 20_000,
    "<<" * 20_000,
    "<<E\n" * 5_000,
    "sudo " * 10_000,
    "bash -c " * 5_000,
    "eval " * 10_000,
    "$" * 30_000,
    "${" * 20_000,
    "x|" * 20_000,
    "x;" * 20_000,
    "for a in b; do " * 4_000,
    "git " + "-C x " * 10_000 + "push",
    "cmd /c dir C:\\Users\\x & del /q *.tmp",
    "Get-ChildItem -Path . | Where-Object { $_.Length -gt 1MB } | ForEach-Object { Remove-Item $_.FullName }",
    "\x00\ud800 rm -rf",
)


@each("command", HOSTILE)
def test_what_no_shell_would_accept_is_read_quickly(command: str) -> None:
    started = time.process_time()
    calls = parse(command)
    fires(compiled("git push --force unless git push --dry-run") or {}, calls)
    list(writes_of(calls))
    assert time.process_time() - started < 1.5
