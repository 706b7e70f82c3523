"""The text of a warning says which commands and files it is about, and which it recommends."""

from holdfast.policy.sessions.warned_places import sites_in
from tests.rows import each

TEXTS = [
    ("`make test` passed locally, but `make deploy` then broke prod.", ["make deploy"]),
    (
        "Never run this:\n```sh\n$ docker compose down -v\n```\nDo this instead:\n```\ndocker compose stop\n```",
        ["docker compose down -v"],
    ),
    ("Never run 'git push --force' here.", ["git push --force"]),
    ("`RAILS_ENV=production rails db:drop` wiped it.", ["RAILS_ENV=production rails db:drop"]),
    ("Never run `git push` before `make check`.", ["git push"]),
    ("Never run terraform destroy in the shared account.", ["terraform destroy"]),
    ("Don't use `print` in library code; use `logging`.", []),
    ("Never use `DELETE FROM orders` without a WHERE clause.", ["sql DELETE FROM orders"]),
    ("Deploying with `make deploy` before the migrations ran (`make migrate`) broke checkout.", ["make deploy"]),
    ("After `npm install`, run `npm run patch-package`, or the build fails.", ["npm install"]),
    ("If you run `docker compose up` without `--build`, you test the old image.", ["docker compose up unless --build"]),
    ("Always pass `--no-cache` to `docker build` when the base image changed.", ["docker build unless --no-cache"]),
    ("Prefer `rg` over `grep -r`: the latter walked into node_modules for 20 minutes.", ["grep -r"]),
    ("Use `uv add` not `pip install`.", ["pip install"]),
    ("The linter must run with `ruff check --fix` before you commit.", ["git commit"]),
    ("Don't edit `poetry.lock` manually; run `poetry lock`.", ["path:poetry.lock"]),
    ("The `users` table has no index on email.", []),
    ("Don't run the e2e tests locally (`npm run e2e`): they hit the live payment API.", ["npm run e2e"]),
    ("Before `terraform apply`, run `terraform plan`.", ["terraform apply"]),
    ("`terraform apply` only after `terraform plan` was reviewed.", ["terraform apply"]),
    ("docker system prune deleted the cached base images.", ["docker system prune"]),
    ("Don't push directly to main; open a PR with `gh pr create`.", ["git push main", "git push master"]),
    ("`DROP DATABASE` on staging took the demo down.", ["sql DROP DATABASE"]),
    ("The `--force` flag of `npm install` hides peer conflicts.", ["npm install --force"]),
    ("Tests that use `time.sleep(5)` are flaky.", []),
    ("`npm ci` deletes node_modules and takes 6 minutes; `npm install` is enough locally.", ["npm ci"]),
    ("Use `git revert`, never `git reset --hard`, on shared branches.", ["git reset --hard"]),
    ("`git pull` without `--rebase` litters the history with merge commits.", ["git pull unless --rebase"]),
    ("Three people were woken by `consumer stalled` and none knew what to do.", []),
    ("Never force push.", ["git push --force"]),
    ("Don't amend pushed commits.", ["git commit --amend"]),
    ("Running `pytest` directly fails; use `uv run pytest` instead.", ["pytest unless uv run pytest"]),
    ("Never start `scripts/reindex.sh` by hand.", ["command:scripts/reindex.sh"]),
    ("`bash -lc` hides failures.", []),
]


@each(("text", "triggers"), TEXTS)
def test_what_went_wrong_is_a_trigger_and_what_to_do_is_not(text: str, triggers: list[str]) -> None:
    assert sites_in(text) == triggers


def test_the_steps_of_a_protocol_are_advice_unless_they_forbid() -> None:
    steps = ["Run `terraform plan`", "Never pass `-auto-approve`"]
    assert sites_in("`terraform apply` replaced the database.", advice=steps) == ["terraform apply", "-auto-approve"]
