"""Secrets: found, refused, and never shown."""

import re
from pathlib import Path

import pytest
from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins import keyword
from detect_secrets.plugins.base import RegexBasedDetector
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import characters, from_regex

from clustergen.compile import validate
from clustergen.diagnostics import FORMATS, render
from clustergen.diagnostics.secrets import is_secret, secret_spans
from clustergen.manifest.source import Source

SECRET = "hunter2hunter2"


def places_of_secrets(text: str) -> list[str]:
    source = Source("m", text.encode())
    return [str(item.place) for item in source.diagnostics if item.code == "secret-in-manifest"]


@pytest.mark.parametrize(
    "text",
    [
        f"password: {SECRET}",
        f"a: {{smtp_password: {SECRET}}}",
        f"a: {{StoragePass: {SECRET}}}",
        f"munge_key: {SECRET}",
        f"munge-key: {SECRET}",
        f"private_key: |\n  {SECRET}",
        f"a:\n  - token: '{SECRET}'",
        f"api_keys: [x, {SECRET}]",
        "secret: 12345",
        f"a: http://user:{SECRET}@example.org/",
        f"a: |\n  -----BEGIN OPENSSH PRIVATE KEY-----\n  {SECRET}\n  -----END OPENSSH PRIVATE KEY-----",
        f"a: $ANSIBLE_VAULT;1.1;AES256;{SECRET}",
        f"a: ghp_{SECRET}{SECRET}",
        "a: AKIAABCDEFGHIJKLMNOP",
        f"ansible_become_pass: {SECRET}",
        f"ansible_ssh_pass: {SECRET}",
        f"db_pass: {SECRET}",
        f"dbPassword: {SECRET}",
        f"pass_phrase: {SECRET}",
        f"pwd: {SECRET}",
        f"wifi_psk: {SECRET}",
        f"jwt_key: {SECRET}",
        f"slurm_key: {SECRET}",
        f"munge_key_b64: {SECRET}",
        f"snmp_community: {SECRET}",
        f"password_root: {SECRET}",
        f"root_password_bmc: {SECRET}",
        f"password_for_root: {SECRET}",
        "root_pass: 12345678",
        f"bmc_passwords: {{gpu01: {SECRET}}}",
        f"ldap_default_authtok: {SECRET}",
        f"bearer: {SECRET}",
        f"secret_value: {SECRET}",
        f"secret_id: {SECRET}",
        f"password2: {SECRET}",
        f"password_hash: {SECRET}",
        f"credentials_json: {SECRET}",
        f"basic_auth: {SECRET}",
        f"cookie: {SECRET}",
        f"license: {SECRET}A",
        f"password: {{value: {SECRET}}}",
        f"password: /{SECRET}",
        f"password: ${SECRET}",
        f"JobCompPass: {SECRET}",
        f"JobCompParams: password={SECRET}",
        f"AuthInfo: secret={SECRET}",
        f"MailProg: /bin/mail --pass {SECRET}",
        f"cmd: PGPASSWORD={SECRET} psql",
        f"cmd: 'curl --header \"Authorization: Bearer {SECRET}\"'",
        f"url: redis://:{SECRET}@cache",
        f"description: 'the root password: {SECRET}'",
        f'"\\x70assword": {SECRET}',
    ],
)
def test_a_secret_is_refused_and_covered(text: str) -> None:
    source = Source("m", text.encode())
    assert places_of_secrets(text) != []
    shown = "".join(render(source.diagnostics, form, {"m": source.text}) for form in ("text", "json", "github"))
    assert SECRET not in shown
    assert SECRET not in source.text
    assert "AKIAABC" not in shown
    assert len(source.text) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "password_file: /etc/x",
        "token: /etc/prometheus/token",
        "token: '{{ vault_token }}'",
        "token: $TOKEN",
        "password:",
        "password: ''",
        "password: false",
        "tokens: {max: 5}",
        "key: value",
        "keys: [a, b]",
        "secretary: Ann",
        "url: https://example.org/a:b@c",
        "a: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ann@example.org",
        "a: the password is kept in the vault",
        "a: 'password: ask the operators'",
        "cmd: mysql --password=$DB_PASSWORD",
        "cmd: curl -H @/etc/curl/header --netrc-file /root/netrc",
        "password_policy: strict",
        "token_ttl: 3600",
        "slurm_key_file: /etc/slurm/slurm.key",
        "AllowAccounts: production",
        "ssh_key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB ann@example.org",
        "key: Auto, or a fixed one",
        "licenses: [matlab:10]",
        "bypass: always",
        "llm_max_tokens: 4096",
        "community: physics",
        "license_key: 27000@lic1",
        "signing_key: https://example.org/key.asc",
        "client_key: node.key",
        "password_file_mode: '0600'",
        "passwords: {file: /etc/x, length: 12}",
    ],
)
def test_values_that_resemble_secrets_are_none(text: str) -> None:
    assert places_of_secrets(text) == []
    assert Source("m", text.encode()).text == text


@pytest.mark.parametrize("product", ["a100-pcie-40", "h100-sxm-80gb", "rtx-pro-6000-server"])
def test_a_product_in_the_wrong_place_is_shown(product: str) -> None:
    text = f"node_types: {{a: {{gpus: {product}}}}}"
    messages = [item.message for item in validate(Path("m.yaml"), raw=text.encode()).diagnostics]
    assert any(f"not the text '{product}'" in message for message in messages), messages


def test_the_caret_is_under_the_key() -> None:
    assert places_of_secrets(f"a: 1\nb:\n  password: {SECRET}\n") == ["m:3:3"]


@pytest.mark.parametrize(
    "text",
    [
        f"password: {SECRET} @\nb: @\npassword: {SECRET} %\n",
        f"password: {SECRET}: x\n",
        f"- password: {SECRET}\n- b\n",
        f"password: a\npassword: {SECRET}\n",
        f"a: {{token: {SECRET}, b: [}}\n",
        f"StoragePass={SECRET}: x: y\n",
        f"a: x\n-----BEGIN RSA PRIVATE KEY-----\n{SECRET}\n-----END RSA PRIVATE KEY-----\n",
    ],
)
def test_a_file_that_is_wrong_in_another_way_shows_none_either(text: str) -> None:
    source = Source("m", text.encode())
    assert source.diagnostics
    assert SECRET not in render(source.diagnostics, "text", {"m": source.text})


@pytest.mark.parametrize("sign", ["!", "*", "%", "@", "{", "|", "ab: ", "[", "'"])
def test_a_password_that_yaml_reads_as_something_else_is_in_no_message(sign: str, tmp_path: Path) -> None:
    (tmp_path / "m").write_text(f"name: x\nansible:\n  root_password: {sign}Summer24ZX\n  b: 1\n")
    compiled = validate(tmp_path / "m")
    assert compiled.diagnostics
    for form in FORMATS:
        assert "Summer24ZX" not in render(compiled.diagnostics, form, {compiled.source.name: compiled.source.text}), (
            form
        )


@pytest.mark.parametrize(
    "text",
    [
        '"https://u:Summer24ZX@h/": 1',
        "bogus: 1 # root password: Summer24ZX",
        "monitoring: {smtp: bob:Summer24ZX@mail.example.org, bogus: 1}",
        "ansible: {variables: {bmc_passwords: {gpu01: Summer24ZX}}}",
    ],
)
def test_a_secret_is_in_no_message_about_something_else(text: str, tmp_path: Path) -> None:
    (tmp_path / "m").write_text(f"name: x\n{text}\n")
    compiled = validate(tmp_path / "m")
    assert compiled.diagnostics
    for form in FORMATS:
        assert "Summer24ZX" not in render(compiled.diagnostics, form, {compiled.source.name: compiled.source.text})


def test_the_detector_knows_the_key_names_of_another() -> None:
    """detect-secrets, a maintained scanner, has a list of names; each is known here, alone and behind a prefix."""
    names = [name.replace("_?", "_") for name in keyword.DENYLIST]
    names += [name.replace("_", "") for name in names]
    assert len(names) > 30
    assert [name for name in names if not is_secret(f"site_{name}", SECRET + "A")] == []


FOREIGN = {
    kind: detector
    for kind, detector in get_mapping_from_secret_type_to_class().items()
    if issubclass(detector, RegexBasedDetector)
    # An address is no secret.
    and kind != "Public IP (ipv4)"
}
# Forms that ordinary words have too, or that take any text as the value: what counts there is the name before them.
ORDINARY = (r"AP[\dABCDEF]", r"A[\dABCDEF]", "softlayer.com/soap", "_authToken")
# Their name and their value may stand side by side without a sign; here it takes one, or a dash before the name.
UNSIGNED = ("Cloudant Credentials", "IBM Cloud IAM Key", "IBM COS HMAC Credentials", "SoftLayer Credentials")

REAL = 19  # characters; their patterns also take `eyJ0.0` for a web token


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("kind", sorted(FOREIGN.keys() - UNSIGNED))
def test_the_detector_knows_the_forms_of_another(kind: str) -> None:
    """Texts that detect-secrets' own patterns generate are found."""
    for pattern in FOREIGN[kind].denylist:
        if any(ordinary in pattern.pattern for ordinary in ORDINARY):
            continue
        examples: list[str] = []
        collect(pattern, examples)
        missed = [text for text in examples if not secret_spans(text)]
        assert examples
        assert missed == []


def collect(pattern: re.Pattern[str], examples: list[str]) -> None:
    @settings(max_examples=30, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
    @given(from_regex(pattern, fullmatch=True, alphabet=characters(codec="ascii", exclude_categories=["C"])))
    def run(text: str) -> None:
        if len(text) >= REAL or text in pattern.pattern:
            examples.append(text)

    run()


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("cluster", ["ml-training", "midrange-weka", "dgx-a100-mig", "a6000-quad", "home-3090"])
def test_no_rendered_tree_has_a_secret(cluster: str) -> None:
    """Nothing is hidden from the check for false alarms: passwords, keys and tokens are named all over these files."""
    directory = Path(__file__).parents[2] / "inventories" / cluster
    for file in directory.rglob("*"):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            assert [text[start:end] for start, end in secret_spans(text)] == [], file
