"""slurmd detects GPUs by our NVML library: every system of the catalogue agrees, and what is wrong is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clustergen.catalogue.hardware import gpus
from clustergen.catalogue.mig import mig_families, mig_profiles
from clustergen.catalogue.systems import system, system_ids
from clustergen.render.node_hardware import Hardware
from clustergen.verify import detected_gpus
from clustergen.verify.detected_gpus import Detected, Node, detect
from clustergen.verify.sandbox import SandboxError
from clustergen.verify.slurm_roots import SlurmInstall, for_release
from strategies.trees import HEAD, manifest, node_files, tree_of

DETECTING = ("22.05", "24.11")


MIG = {
    f"type_mig_{family}_{number}".replace("-", "_"): {profile.profile: profile.max_count}
    for family in mig_families()
    for number, profile in enumerate(mig_profiles(family))
}
"""Inventory group of a node type → the instances of its second GPU."""


def catalogue() -> dict[str, object]:
    """Sections of a manifest with a node type for each system with GPUs, and one for each MIG profile."""
    systems = [name for name in system_ids() if (one := system(name)) and one.gpu_count]
    types: dict[str, object] = {name: {"system": name} for name in systems}
    plans: dict[str, object] = {}
    for family in mig_families():
        model = next(gpu.id for gpu in gpus().values() if gpu.mig_family == family)
        for number, profile in enumerate(mig_profiles(family)):
            name = f"mig-{family}-{number}"
            plans[name] = {"profiles": {profile.profile: profile.max_count}}
            cpu = {"sockets": 1, "cores_per_socket": 32}
            types[name] = {"cpu": cpu, "memory": "256GiB", "gpus": {"model": model, "count": 2, "mig": {1: name}}}
    nodes = [{"name": f"n{n}", "type": name, "address": f"10.0.1.{n + 1}"} for n, name in enumerate(types)]
    networks = {"management": {"cidr": "10.0.0.0/16", "domain": "cluster.local"}}
    return {"node_types": types, "gpu": {"mig_plans": plans}, "nodes": [HEAD, *nodes], "networks": networks}


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("release", DETECTING)
def test_slurmd_agrees_with_every_system_and_mig_profile_of_the_catalogue(tmp_path: Path, release: str) -> None:
    tree = tree_of(manifest(**catalogue(), slurm={"version": release, "build": "schedmd"}), tmp_path)
    nodes = [
        Node(tree.groups[group][0], hardware, (None, MIG[group]) if group in MIG else ())
        for group, hardware in tree.hardware.items()
    ]
    install = for_release(release)
    assert install is not None
    files = node_files(tree, nodes[0].name)
    slurm_conf, gres_conf = (files[f"/etc/slurm/{name}"].content.decode() for name in ("slurm.conf", "gres.conf"))
    answers = detect(install, slurm_conf, gres_conf, nodes)
    assert {name: answer.complaints for name, answer in answers.items() if answer.complaints} == {}
    assert sum(answer.types.total() for answer in answers.values()) == sum(node.count for node in nodes)
    assert len(nodes) > len(MIG) > 50


SLURM_CONF = """\
ClusterName=test
GresTypes=gpu
SlurmdParameters=numa_node_as_socket
NodeName=right,odd,cores,kind,fewer,swapped Sockets=4 CoresPerSocket=4 ThreadsPerCore=2 Gres=gpu:h100:4
NodeName=links Sockets=4 CoresPerSocket=4 ThreadsPerCore=2 Gres=gpu:h100:4
NodeName=sockets Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 Gres=gpu:h100:4
NodeName=threads Sockets=4 CoresPerSocket=4 ThreadsPerCore=1 Gres=gpu:h100:4
NodeName=plain Sockets=4 CoresPerSocket=4 ThreadsPerCore=2
NodeName=more Sockets=4 CoresPerSocket=4 ThreadsPerCore=2 Gres=gpu:h100:3
NodeName=mig,unmade,profile,instances Sockets=4 CoresPerSocket=4 ThreadsPerCore=2 \\
  Gres=gpu:h100:3,gpu:h100_80gb_hbm3_3g.40gb:2
"""
GRES_CONF = """\
NodeName=right,odd,fewer,swapped,sockets,threads Name=gpu Type=h100 File=/dev/nvidia[0-1] Cores=0-3
NodeName=right,odd,fewer,swapped,sockets,threads Name=gpu Type=h100 File=/dev/nvidia[2-3] Cores=8-11
NodeName=cores Name=gpu Type=h100 File=/dev/nvidia[0-1] Cores=4-7
NodeName=cores Name=gpu Type=h100 File=/dev/nvidia[2-3] Cores=8-11
NodeName=links Name=gpu Type=h100 File=/dev/nvidia0 Cores=0-3 Links=-1,0,4,0
NodeName=links Name=gpu Type=h100 File=/dev/nvidia[1-3]
NodeName=more,kind,mig,unmade,profile,instances AutoDetect=nvml
"""
H100 = Hardware(
    2,
    8,
    2,
    2,
    "sockets",
    gpu="NVIDIA H100 80GB HBM3",
    mig_family="h100-80",
    cpus=("0-3,16-19", "0-3,16-19", "8-11,24-27", "8-11,24-27"),
    links=((-1, 4, 0, 0), (4, -1, 0, 0), (0, 0, -1, 4), (0, 0, 4, -1)),
)
SPLIT = (None, None, None, {"3g.40gb": 2})
NODES = [
    *(Node(name, H100) for name in ("right", "cores", "links", "sockets", "threads", "more")),
    Node(
        "odd",
        Hardware(
            2, 8, 2, 2, "alternating", gpu=H100.gpu, cpus=(*2 * ("0,2,4,6,16,18,20,22",), *2 * ("1,3,5,7,17,19,21,23",))
        ),
    ),
    Node("kind", Hardware(2, 8, 2, 2, "sockets", gpu="NVIDIA A100-SXM4-80GB", cpus=H100.cpus)),
    Node("fewer", Hardware(2, 8, 2, 2, "sockets", gpu=H100.gpu, cpus=H100.cpus[:3])),
    Node("swapped", Hardware(2, 8, 2, 2, "sockets", gpu=H100.gpu, cpus=H100.cpus[::-1])),
    Node("mig", H100, SPLIT),
    Node("profile", H100, (None, None, None, {"4g.40gb": 1, "3g.40gb": 1})),
    Node("unmade", H100, (None, None, None, {"3g.41gb": 2})),
    Node("instances", H100, (None, None, None, {"3g.40gb": 1})),
]
MISMATCH = "This GPU specified in [slurm|gres].conf has mismatching Cores or Links"
WORDS = {
    "unmade": "no MIG devices were found",
    "cores": MISMATCH,
    "links": MISMATCH,
    "swapped": MISMATCH,
    "sockets": "slurm.conf has Sockets=2, slurmd finds 4",
    "threads": "slurm.conf has ThreadsPerCore=1, slurmd finds 2",
    "more": "lists 3 GPUs and MIG instances of 4",
    "kind": "Discarding the following config-only GPU",
    "fewer": "lists 4 GPUs and MIG instances of 3",
    "profile": "Discarding the following config-only GPU",
    "instances": "Discarding the following config-only GPU",
}


@pytest.fixture(scope="module", params=DETECTING)
def answers(request: pytest.FixtureRequest) -> dict[str, Detected]:
    install = for_release(request.param)
    assert install is not None
    return detect(install, SLURM_CONF, GRES_CONF, NODES)


@pytest.mark.real
def test_nodes_without_gpus_need_no_plugin(slurm: SlurmInstall) -> None:
    plain = Node("plain", Hardware(2, 8, 2, 2, "sockets"))
    assert detect(slurm, SLURM_CONF, "", [plain]) == {"plain": Detected((), {})}


@pytest.mark.real
def test_a_machine_that_cannot_load_the_library_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("nvml.c", "detect_gpus.sh"):
        shutil.copy(Path(detected_gpus.__file__).with_name(name), tmp_path)
    script = tmp_path / "detect_gpus.sh"
    script.write_text(script.read_text(encoding="utf-8").replace("execstack=2", "execstack=1"), encoding="utf-8")
    monkeypatch.setattr(detected_gpus, "__file__", str(tmp_path / "detected_gpus.py"))
    install = for_release("24.11")
    assert install is not None
    with pytest.raises(SandboxError, match="cannot enable executable stack"):
        detect(install, SLURM_CONF, GRES_CONF, NODES[:1])


@pytest.mark.real
def test_what_is_right_passes(answers: dict[str, Detected]) -> None:
    for name, types in {
        "right": {"h100": 4},
        "odd": {"h100": 4},
        "mig": {"h100": 3, "h100_80gb_hbm3_3g.40gb": 2},
    }.items():
        assert (answers[name].complaints, answers[name].types) == ((), types)


@pytest.mark.real
@pytest.mark.parametrize("name", WORDS)
def test_slurmd_names_what_is_wrong(answers: dict[str, Detected], name: str) -> None:
    assert any(WORDS[name] in words for words in answers[name].complaints), answers[name]
