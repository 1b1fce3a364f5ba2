"""Consequences of an error are not reported beside it, and nothing else is left out."""

from __future__ import annotations

import pytest

from strategies.findings import TINY, changed, findings

PLAN = ("  management: {cidr: 10.0.0.0/24}\n",)
SLOW = "  fabric: {type: infiniband, rate: NDR, plan: {leaf: qm8700}}\n"
STORAGE = "  storage: {cidr: 10.3.0.0/24, rate: 400GbE, plan: {leaf: sn5600}}\n"
ACCOUNTS = """slurm:
  version: "24.11"
  qos: {long: {max_wall: 7-0}, spare: {max_wall: 1-0}}
  accounts: {physics: {users: [alice], qos: [normal], default_qos: long}}
"""


def test_a_slow_switch_is_reported_without_its_cables() -> None:
    text = changed(TINY, (PLAN[0], PLAN[0] + SLOW))
    assert sorted(code for code, _ in findings(text)) == ["plan-without-racks", "switch-too-slow"]


def test_cables_that_do_not_fit_are_reported_where_the_switch_fits() -> None:
    text = changed(TINY, (PLAN[0], PLAN[0] + SLOW.replace("rate: NDR, ", "")))
    assert "link-without-cable" in [code for code, _ in findings(text)]


def test_only_the_qos_of_the_error_is_no_finding_of_its_own() -> None:
    text = changed(
        TINY, ('slurm: {version: "24.11"}\n', ACCOUNTS), ("[slurm-controller]", "[slurm-controller, slurm-accounting]")
    )
    codes = [code for code, _ in findings(text)]
    assert codes.count("qos-unused") == 1
    assert "qos-not-allowed" in codes


@pytest.mark.parametrize("system", ["dell-r760xa", "dgx-h800"])
def test_an_unknown_system_is_not_reported_as_a_client_without_interface(system: str) -> None:
    storage = 'storage: {fast: {type: lustre, mount: /fast, mgs: ["10.1.0.9@o2ib"]}}\n'
    fabric = "  fabric: {type: infiniband, rate: NDR}\n"
    text = changed(TINY, (PLAN[0], PLAN[0] + fabric), ("dgx-h100", system)) + storage
    codes = [code for code, _ in findings(text)]
    assert "system-unknown" in codes
    assert "lnet-interface-missing" not in codes


FABRIC = PLAN[0] + "  fabric: {type: infiniband, rate: NDR, plan: {leaf: qm9700}}\n"
LIMITS = 'slurm: {version: "24.11", qos: {normal: {max_tres_per_user: {gres/gpu: 16}}}, accounts: {}}\n'


@pytest.mark.parametrize("nodes", ["", ', nodes: "gpu[1-4]"'])
@pytest.mark.parametrize(
    ("edit", "code"),
    [(("type: h100", "type: h10"), "node-type-unknown"), (("dgx-h100", "dgx-h800"), "system-unknown")],
)
def test_nodes_without_a_type_are_not_reported_as_nodes_without_ports_and_gpus(
    edit: tuple[str, str], code: str, nodes: str
) -> None:
    text = changed(
        TINY,
        (PLAN[0], FABRIC.replace("qm9700", f"qm9700{nodes}")),
        ('slurm: {version: "24.11"}\n', LIMITS),
        ("[slurm-controller]", "[slurm-controller, slurm-accounting]"),
    )
    errors = {"plan-node", "tres-unknown", code}
    assert not errors & {name for name, _ in findings(text)}
    assert errors & {name for name, _ in findings(changed(text, edit))} == {code}


def test_a_plan_without_any_port_is_reported_where_all_types_are_known() -> None:
    text = changed(
        TINY, (PLAN[0], FABRIC), ("{system: dgx-h100}", "{cpu: {sockets: 2, cores_per_socket: 8}, memory: 64GiB}")
    )
    assert "plan-node" in [code for code, _ in findings(text)]
