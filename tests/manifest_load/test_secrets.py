"""Secrets: found, refused, and never shown."""

import pytest

from clustergen.diagnostics import render
from clustergen.manifest.source import Source

SECRET = "hunter2hunter2"


def found(text: str) -> list[str]:
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
    ],
)
def test_a_secret_is_refused_and_covered(text: str) -> None:
    source = Source("m", text.encode())
    assert found(text) != []
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
    ],
)
def test_what_only_resembles_one_is_not(text: str) -> None:
    assert found(text) == []
    assert Source("m", text.encode()).text == text


def test_the_caret_is_under_the_key() -> None:
    assert found(f"a: 1\nb:\n  password: {SECRET}\n") == ["m:3:3"]


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
