"""Secrets and look-alikes written by another hand than the rules: what these first missed was added to them."""

from holdfast.policy.secrets.find import find_secrets, mask_secrets
from tests.rows import examples

VALUE = "q" + "T7" + "$m" + "Rk" + "9x" + "Wv" + "3"
# Put together here, so that no scanner takes this file for a leak.
SECRETS = {
    "private key": "-----BEGIN RSA PRIVATE " + "KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE " + "KEY-----",
    "AWS access key": "AKIA" + "IOSFODNN7EXAMPLQ",
    "GitHub token": "ghp_" + "a1B2" * 9,
    "GitLab token": "glpat-" + "xYz12_" * 4,
    "Anthropic key": "sk-ant-" + "api03-abcDEF123456" * 2,
    "OpenAI key": "sk-proj-" + "abcDEF123456" * 3,
    "Slack token": "xoxb-" + "123456789012-abcdefABCDEF",
    "Slack webhook": "https://hooks.slack.com/" + "services/T00000000/B00000000/XXXXyyyyXXXXyyyyXXXXyyyy",
    "Stripe key": "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "Google API key": "AIza" + "SyA1234567890abcdefghijklmnopqrstuv",
    "npm token": "npm_" + "aB1" * 12,
    "PyPI token": "pypi-" + "AgEIcHlwaS5vcmc" * 5,
    "Hugging Face token": "hf_" + "abcdEFGH" * 5,
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "password in a URL": "postgres://admin:" + "s3cr3tpw@db.internal/prod",
    "bearer token": "Authorization: Bearer " + "abcdef0123456789ABCDEF",
    "password or key": 'DB_PASSWORD = "' + 'Xk9!mQ2#vL"',
}


@examples
def test_a_secret_in_this_place_is_masked(place: str) -> None:
    text = place.format(VALUE)
    assert VALUE not in mask_secrets(text)


@examples
def test_this_is_no_secret(text: str) -> None:
    assert find_secrets(text) == []
