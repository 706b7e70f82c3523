"""Secrets and look-alikes written by another hand than the rules: what these first missed was added to them."""

from holdfast.policy.secrets.find import find_secrets, mask_secrets
from tests.rows import each

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
PLACES = (
    "net use z: \\\\srv\\s /user:bob {}",
    "echo {} | docker login -u bob --password-stdin registry.example.org",
    "echo '{}' | sudo -S apt-get update",
    "sudo -S true <<< '{}'",
    'expect "Password:"; send "{}\\r"',
    "credentials('bob', '{}')",
    "requests.get(url, auth=('bob', '{}'))",
    "HTTPBasicAuth('bob', '{}')",
    "- name: DB_PASS\n  value: {}",
    '<input type=hidden name=token value="{}">',
    "mot de passe : {}",
    "密码: {}",
    "密码：{}",
    "パスワード：{}",
    "비밀번호: {}",
    "пароль: {}",
    "senha: {}",
    "contraseña = {}",
    "Passwort: {}",
    "wachtwoord: {}",
)
LOOK_ALIKES = (
    "The token is read from os.environ['API_TOKEN'].",
    "password: str = Field(...)",
    'PASSWORD = "changeme-please"',
    "secret_name: my-service-credentials",
    "Use sk-learn for this; see SK and AC in the table.",
    "The commit 4f2c9a7d1e8b3a6c5d4e3f2a1b0c9d8e7f6a5b4c fixed it.",
    "api_key=${API_KEY}",
    "token = get_token(user)",
    "https://example.org/path?key=value",
    "The primary key: customer_id",
    "passwords are hashed with bcrypt",
    "auth=(username, password)",
    "HTTPBasicAuth('user', 'pass')",
    'login("bob@example.com", "password")',
    "credentials('github-creds', 'ssh-key')",
    'echo "hello world" | tee log',
    "echo $PASSWORD | docker login --password-stdin",
    "sudo -S apt install",
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db",
    "- name: PASSWORD_MIN_LENGTH\n  value: 12345678",
    "- name: TOKEN_URL\n  value: https://auth.example.org/oauth/token",
    "mot de passe oublié ? Cliquez ici",
    "密码错误，请重试",
    "パスワードを入力してください",
    'expect "Password:"; send "$password\\r"',
    "pin: numpy==1.26.4",
    "mysql -u root -p shop",
    "psql -U postgres -h localhost -p 5432",
)


@each("place", PLACES)
def test_a_secret_in_this_place_is_masked(place: str) -> None:
    text = place.format(VALUE)
    assert VALUE not in mask_secrets(text)


@each("text", LOOK_ALIKES)
def test_this_is_no_secret(text: str) -> None:
    assert find_secrets(text) == []
