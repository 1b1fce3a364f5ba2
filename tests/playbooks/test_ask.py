"""What a host's answer holds, beyond what its files say."""

from __future__ import annotations

import hashlib

from ansible_collections.clustergen.cluster.plugins.action.ask import _fingerprints, _replaced


def test_no_fingerprint_of_a_password_gets_into_outputs() -> None:
    secrets = [{"path": "/munge.key", "origin": "made"}, {"path": "/password", "origin": "given"}]
    found = {"/munge.key": "c1c6", "/password": "5e88"}
    assert _fingerprints(secrets, found) == {"/munge.key": "c1c6", "/password": "there"}
    assert _fingerprints(secrets, dict.fromkeys(found)) == {"/munge.key": None, "/password": None}


def test_a_given_secret_replaces_another_one_and_no_other_secret() -> None:
    password = {"name": "slurmdbd", "path": "/password", "origin": "given", "form": "StoragePass={}\n"}
    key = {"name": "scratch", "path": "/key", "origin": "given"}
    munge = {"name": "munge", "path": "/munge.key", "origin": "made"}
    found = {
        "/password": hashlib.sha256(b"StoragePass=old\n").hexdigest(),
        "/key": hashlib.sha256(b"old").hexdigest(),
        "/munge.key": "c1c6",
    }

    def names(given: dict[str, str], there: dict[str, str | None]) -> list[str]:
        return [secret["name"] for secret in _replaced([password, key, munge], there, given)]

    assert names({"slurmdbd": "old", "scratch": "old"}, dict(found)) == []
    assert names({"slurmdbd": "new", "munge": "new"}, dict(found)) == ["slurmdbd"]
    assert names({"scratch": "new"}, dict(found)) == ["scratch"]
    assert names({"slurmdbd": "new", "scratch": "new"}, dict.fromkeys(found)) == []
