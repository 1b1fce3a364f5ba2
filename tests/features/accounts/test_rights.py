"""Rights of accounts, users and QOS: invalid combinations, and hints that name what was meant."""

from __future__ import annotations

from typing import Any

import pytest

from clustergen.catalogue.sacctmgr import AS_PARENT
from clustergen.cluster.resolve import resolve
from clustergen.compile import frozen
from clustergen.diagnostics import Finding
from clustergen.manifest.model import Manifest
from clustergen.rules import check
from strategies.trees import manifest


@pytest.mark.parametrize(
    ("slurm", "code", "path", "message"),
    [
        (
            {"accounts": {"a": {"options": {"GrpWall": 5}}}},
            "slurm-key-managed",
            ("slurm", "accounts", "a", "options", "GrpWall"),
            "the manifest has a field for 'GrpWall'",
        ),
        (
            {"accounts": {"a": {"options": {"MaxConcurrentJobs": 5}}}},
            "slurm-key-unknown",
            ("slurm", "accounts", "a", "options", "MaxConcurrentJobs"),
            "'MaxConcurrentJobs' is not an option of sacctmgr for accounts",
        ),
        (
            {"qos": {"normal": {"options": {"LimitFactor": "much"}}}},
            "slurm-value-wrong",
            ("slurm", "qos", "normal", "options", "LimitFactor"),
            "'LimitFactor' must be a number, not 'much'",
        ),
        (
            {"accounts": {"a": {"group_tres": {"gres/gpu": "8GiB"}}}},
            "unit-wrong",
            ("slurm", "accounts", "a", "group_tres", "gres/gpu"),
            "'gres/gpu' is a count and has no unit",
        ),
        (
            {"accounts": {"a": {"users": ["kim"], "user_limits": {"kim": {"max_tres_per_job": {"gres/fpga": 1}}}}}},
            "tres-unknown",
            ("slurm", "accounts", "a", "user_limits", "kim", "max_tres_per_job", "gres/fpga"),
            "'gres/fpga' is not a tracked resource (TRES), so it cannot be limited",
        ),
        (
            {"qos": {"long": {}}, "accounts": {"a": {"qos": ["long"]}, "b": {"parent": "a", "default_qos": "normal"}}},
            "qos-not-allowed",
            ("slurm", "accounts", "b", "default_qos"),
            "'normal' is not among the QOS that 'b' may use, which inherits long",
        ),
        (
            {"accounts": {"a": {"users": ["kim"]}}, "users": {"eve": {"default_account": "a"}}},
            "user-unknown",
            ("slurm", "users", "eve", "default_account"),
            "'eve' is not a user of account 'a'",
        ),
        (
            {"accounts": {"a": {"users": ["kim", "eve", "kim"]}}},
            "name-repeated",
            ("slurm", "accounts", "a", "users", 2),
            "'kim' is listed twice",
        ),
        (
            {"accounts": {"a": {"users": ["kim"], "coordinators": ["eve"]}}},
            "user-unknown",
            ("slurm", "accounts", "a", "coordinators", 0),
            "coordinator 'eve' is not a user of any account",
        ),
    ],
)
def test_errors_of_accounts_and_qos(
    slurm: dict[str, Any], code: str, path: tuple[str | int, ...], message: str
) -> None:
    setting = Manifest.model_validate(frozen(manifest(slurm={"version": "24.11", **slurm})))
    findings: list[Finding] = []
    findings += check(resolve(setting, findings.append), setting)
    (finding,) = [item for item in findings if item.code == code]
    assert (finding.path, finding.message) == (path, message)


@pytest.mark.parametrize(
    ("slurm", "code", "hint"),
    [
        ({"qos": {"normal": {"options": {"MaxJobsPU": 4}}}}, "slurm-key-managed",
         "write max_jobs_per_user"),
        ({"qos": {"normal": {"options": {"MaxTRESPA": "cpu=4"}}}}, "slurm-key-managed",
         "write max_tres_per_account"),
        ({"qos": {"normal": {"options": {"GrpCPUMins": 4}}}}, "slurm-key-unknown",
         "write group_tres_minutes: {cpu: …} beside options"),
        ({"accounts": {"a": {"options": {"MaxWall": 60}}}}, "slurm-key-unknown", "write max_wall beside options"),
        ({"accounts": {"a": {"qos": ["hihg"]}}, "qos": {"normal": {}, "high": {}}}, "qos-unknown",
         "did you mean 'high'?"),
        ({"accounts": {"a": {"qos": ["xyz"]}}, "qos": {"normal": {}, "high": {}}}, "qos-unknown",
         "add slurm.qos.xyz, or use 'normal' or 'high'"),
    ],
)  # fmt: skip
def test_hints_name_what_is_meant(slurm: dict[str, Any], code: str, hint: str) -> None:
    setting = Manifest.model_validate(frozen(manifest(slurm={"version": "24.11", **slurm})))
    findings: list[Finding] = []
    findings += check(resolve(setting, findings.append), setting)
    assert [item.hint for item in findings if item.code == code] == [hint]


@pytest.mark.parametrize(
    ("system", "hint"),
    [
        ("dgx-h10", "did you mean 'dgx-h100'? run clustergen catalogue systems for all names"),
        ("gh200", "use one of mgx-gh200, mgx-gh200-nvl2, smc-111gl-nhr"),
    ],
)
def test_another_gpu_is_not_what_is_meant(system: str, hint: str) -> None:
    data = manifest()
    data["node_types"] = {name: {"system": system} for name in data["node_types"]}
    findings: list[Finding] = []
    resolve(Manifest.model_validate(frozen(data)), findings.append)
    assert {item.hint for item in findings if item.code == "system-unknown"} == {hint}


@pytest.mark.parametrize(("tracking", "codes"), [("pgid", ["slurm-value-harmful"]), ("linuxproc", []), ("cgroup", [])])
def test_processes_that_escape_their_job(tracking: str, codes: list[str]) -> None:
    slurm = {"version": "24.11", "resources": {"process_tracking": tracking}}
    setting = Manifest.model_validate(frozen(manifest(slurm=slurm)))
    findings = [one for one in check(resolve(setting, lambda _: None), setting) if one.path[-1] == "process_tracking"]
    codes_of_tracking = [one.code for one in findings if not one.message.startswith("PrologFlags=")]
    assert codes_of_tracking == codes


def test_slurmdbd_needs_the_hash_plugin_too() -> None:
    def findings(**accounting: Any) -> list[str]:
        slurm = {"version": "24.11", "options": {"HashPlugin": "hash/sha3"}, "accounting": accounting}
        setting = Manifest.model_validate(frozen(manifest(slurm=slurm)))
        return [item.code for item in check(resolve(setting, lambda _: None), setting) if item.path[-1] == "HashPlugin"]

    assert findings() == ["slurm-value-harmful"]
    assert findings(options={"HashPlugin": "hash/sha3"}) == []


def test_shares_of_the_account_above_have_a_word() -> None:
    data = manifest(slurm={"version": "24.11", "accounts": {"a": {"fairshare": "parent"}}})
    assert Manifest.model_validate(frozen(data)).slurm.accounts["a"].fairshare == AS_PARENT


def test_a_qos_that_no_account_inherits_is_unused() -> None:
    def unused(**accounts: Any) -> list[str]:
        slurm = {"version": "24.11", "qos": {"high": {}, "low": {}}, "accounts": accounts}
        setting = Manifest.model_validate(frozen(manifest(slurm=slurm)))
        findings = check(resolve(setting, lambda _: None), setting)
        return [str(item.path[-1]) for item in findings if item.code == "qos-unused"]

    assert unused() == []  # accounts that sacctmgr alone knows are none of the manifest's business
    assert unused(a={"users": ["kim"]}) == ["high", "low"]
    assert unused(a={"qos": ["high"]}, b={"parent": "a"}) == ["low"]
    assert (
        unused(root={"qos": ["normal", "high"]}, a={"user_limits": {"kim": {"qos": ["low"]}}, "users": ["kim"]}) == []
    )


@pytest.mark.parametrize(
    ("slurm", "warns"),
    [
        ({}, True),
        ({"accounting": {"enforce": ["qos"]}}, True),
        ({"accounting": {"enforce": ["nojobs", "nosteps"]}}, False),
        ({"accounting": {"enforce": []}}, False),
        ({"accounts": {}}, False),
        ({"defaults": "slurm"}, False),
    ],
)
def test_enforced_accounting_requires_accounts(slurm: dict[str, Any], warns: bool) -> None:
    data = {**manifest(), "slurm": {"version": "24.11", **slurm}}
    setting = Manifest.model_validate(frozen(data))
    codes = [finding.code for finding in check(resolve(setting, [].append), setting)]
    assert ("accounts-missing" in codes) is warns
