"""slurmd detects GPUs by our NVML library: every system of the catalogue agrees, and what is wrong is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clustergen.catalogue.hardware import gpus
from clustergen.catalogue.mig import mig_families, mig_profiles
from clustergen.catalogue.systems import system, system_ids
from clustergen.render.node_hardware import Hardware
from clustergen.render.write import write
from clustergen.verify import detected_gpus, sandbox
from clustergen.verify.checks import slurm_hardware
from clustergen.verify.detected_gpus import Detected, detect
from clustergen.verify.run import verify
from clustergen.verify.sandbox import Outcome, SandboxError
from clustergen.verify.simulated_hardware import Node
from clustergen.verify.slurm_roots import SlurmInstall, for_release
from strategies.trees import GPU, HEAD, manifest, node_files, tree_of

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


PLAIN = Node("plain", Hardware(2, 8, 2, 2, "sockets"))


@pytest.mark.real
def test_nodes_without_gpus_need_no_plugin(slurm: SlurmInstall) -> None:
    assert detect(slurm, SLURM_CONF, f"AutoDetect=nvml\n{GRES_CONF}", [PLAIN]) == {"plain": Detected((), {})}


@pytest.mark.real
@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("execstack=2", "execstack=1", "cannot enable executable stack"),
        ("cp slurm.conf", "cp slurm.cnf", "slurm.cnf"),
        ("driver /proc/driver", "driver /proc/drivers", "/proc/drivers"),
    ],
)
def test_a_machine_on_which_the_script_fails_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, old: str, new: str, reason: str
) -> None:
    shutil.copy(Path(detected_gpus.__file__).with_name("detect_gpus.sh"), tmp_path)
    script = tmp_path / "detect_gpus.sh"
    script.write_text(script.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    monkeypatch.setattr(detected_gpus, "__file__", str(tmp_path / "detected_gpus.py"))
    install = for_release("24.11")
    assert install is not None
    with pytest.raises(SandboxError, match=reason):
        detect(install, SLURM_CONF, GRES_CONF, NODES[:1])


@pytest.mark.real
def test_a_slurmd_that_does_not_answer_in_time_is_not_judged(
    monkeypatch: pytest.MonkeyPatch, current_slurm: SlurmInstall
) -> None:
    monkeypatch.setattr(detected_gpus, "_LIMIT", 0.0001)
    with pytest.raises(SandboxError, match="ran out of time"):
        detect(current_slurm, SLURM_CONF, "", [PLAIN])


def test_answers_of_some_nodes_alone_are_not_judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    late = Outcome(None, "", "", {"0.log": "slurmd: Gres Name=gpu Type=h100 Count=4"})
    monkeypatch.setattr(sandbox, "run", lambda *_arguments, **_options: late)
    with pytest.raises(SandboxError, match="ran out of time"):
        detect(SlurmInstall("24.11", "24.11.5", "root", tmp_path), SLURM_CONF, GRES_CONF, NODES[:2])


@pytest.mark.real
def test_correct_hardware_passes(answers: dict[str, Detected]) -> None:
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


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A tree with nodes that have GPUs, and nodes that have none."""
    types = {"gpu": GPU, "cpu": {"cpu": {"cores_per_socket": 8}, "memory": "64GiB"}}
    nodes = [HEAD, *({"name": f"n{n}", "type": name, "address": f"10.0.0.{n + 9}"} for n, name in enumerate(types))]
    data = manifest(node_types=types, nodes=nodes, slurm={"version": "24.11", "build": "schedmd"})
    write(tree_of(data, tmp_path), tmp_path / "rendered")
    return tmp_path / "rendered"


@pytest.mark.real
@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        ("x86_64", "no Slurm here has gpu_nvml.so, which detects GPUs: run clustergen setup parsers"),
        ("aarch64", "Debian has gpu_nvml.so, which detects GPUs, for x86_64 alone"),
    ],
)
def test_nodes_without_gpus_are_asked_where_none_detects_any(
    tree: Path, monkeypatch: pytest.MonkeyPatch, machine: str, reason: str
) -> None:
    monkeypatch.setattr(slurm_hardware, "has_plugin", lambda _install: False)
    monkeypatch.setattr("platform.machine", lambda: machine)
    (row,) = verify(tree, slurm_hardware.CHECKS)
    assert row.status == "passed", row.words
    asked, omitted = sorted(word for word in row.words if word.startswith(("cpu: ", "gpu: ")))
    assert asked == "cpu: 1 x 8 cores"
    assert omitted.startswith("gpu: not asked: ")
    assert omitted.endswith(reason)
