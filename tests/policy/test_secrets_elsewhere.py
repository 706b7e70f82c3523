"""Secrets and look-alikes written by another hand than the rules: what these first missed was added to them."""

from holdfast.policy.secrets.find import find_secrets, mask_secrets
from tests.rows import each

VALUE = "q" + "T7" + "$m" + "Rk" + "9x" + "Wv" + "3"

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
