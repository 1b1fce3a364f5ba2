"""What a host's answer holds, beyond what its files say."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.action.ask import _fingerprints


def test_no_fingerprint_of_a_password_gets_into_outputs() -> None:
    secrets = [{"path": "/munge.key", "origin": "made"}, {"path": "/password", "origin": "given"}]
    found = {"/munge.key": "c1c6", "/password": "5e88"}
    assert _fingerprints(secrets, found) == {"/munge.key": "c1c6", "/password": "there"}
    assert _fingerprints(secrets, dict.fromkeys(found)) == {"/munge.key": None, "/password": None}
