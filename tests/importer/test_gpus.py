"""GPUs that are shared or split, and gres.conf: fields where they come back the same, lines otherwise."""

from __future__ import annotations

from typing import Any

import pytest

from clustergen.importer.report import as_text
from importer.conftest import Imported

_CONF = """\
ClusterName=c
SlurmctldHost=head
SlurmUser=slurm
GresTypes={types}
NodeName=cpu[1-2] CPUs=4 RealMemory=4000
NodeName=g[1-2] Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=1000000 Gres={gres}
PartitionName=p Nodes=ALL
"""
_MIG = "gpu:nvidia_h100_80gb_hbm3_"


def test_shards_become_a_field_of_the_gpu(imported: Imported) -> None:
    conf = _CONF.format(types="gpu,shard", gres="gpu:h100:8,shard:32")
    gres = "NodeName=g[1-2] Name=gpu Type=h100 File=/dev/nvidia[0-7]\nNodeName=g[1-2] Name=shard Count=32\n"
    _, data = imported(slurm_conf=conf, gres_conf=gres)
    assert data["node_types"]["g"]["gpus"] == {"model": "h100-sxm", "count": 8, "gres_type": "h100", "shards": 4}
    assert "gres_lines" not in data["slurm"]
    assert "options" not in data["slurm"]


@pytest.mark.slow
def test_mps_becomes_a_field_of_the_gpu(imported: Imported) -> None:
    conf = _CONF.format(types="gpu,mps", gres="gpu:h100:4,mps:400")
    _, data = imported(slurm_conf=conf)
    assert data["node_types"]["g"]["gpus"]["mps"] == 100


@pytest.mark.slow
def test_shards_that_differ_by_gpu_stay_a_plain_gres(imported: Imported) -> None:
    _, data = imported(slurm_conf=_CONF.format(types="gpu,shard", gres="gpu:h100:8,shard:30"))
    assert data["node_types"]["g"]["slurm_options"] == {"Gres": "gpu:h100:8,shard:30"}
    assert data["slurm"]["options"] == {"GresTypes": "gpu,shard"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("gres", "count", "mig", "plans"),
    [
        (f"{_MIG}1g.10gb:14", 2, "mig-7x1g-10gb", {"mig-7x1g-10gb": {"1g.10gb": 7}}),
        (
            f"gpu:h100:6,{_MIG}1g.10gb:8,{_MIG}3g.40gb:2",
            8,
            {"6": "mig-4x1g-10gb-1x3g-40gb", "7": "mig-4x1g-10gb-1x3g-40gb"},
            {"mig-4x1g-10gb-1x3g-40gb": {"1g.10gb": 4, "3g.40gb": 1}},
        ),
        (
            f"{_MIG}1g.10gb:7,{_MIG}3g.40gb:4",
            3,
            {"0": "mig-7x1g-10gb", "1": "mig-2x3g-40gb", "2": "mig-2x3g-40gb"},
            {"mig-7x1g-10gb": {"1g.10gb": 7}, "mig-2x3g-40gb": {"3g.40gb": 2}},
        ),
    ],
)
def test_instances_become_plans(
    imported: Imported, gres: str, count: int, mig: str | dict[str, str], plans: dict[str, dict[str, int]]
) -> None:
    result, data = imported(slurm_conf=_CONF.format(types="gpu", gres=gres), gres_conf="AutoDetect=nvml\n")
    gpus = data["node_types"]["g"]["gpus"]
    assert (gpus["model"], gpus["count"]) == ("h100-sxm", count)
    assert (
        {str(index): plan for index, plan in gpus["mig"].items()} == mig
        if isinstance(mig, dict)
        else gpus["mig"] == mig
    )
    assert {name: plan["profiles"] for name, plan in data["gpu"]["mig_plans"].items()} == plans
    assert "gres_lines" not in data["slurm"]
    assert "# CHECK: Slurm's files do not contain the MIG layout of each GPU" in result.text


@pytest.mark.slow
def test_a_system_tells_how_many_gpus_are_split(imported: Imported) -> None:
    conf = _CONF.format(types="gpu", gres=f"gpu:h100:4,{_MIG}1g.10gb:8").replace("1000000", "2050000")
    _, data = imported(slurm_conf=conf.replace("g[1-2]", "dgx[1-2]"))
    assert data["node_types"]["dgx"]["system"] == "dgx-h100"
    assert data["gpu"]["mig_plans"] == {"mig-2x1g-10gb": {"profiles": {"1g.10gb": 2}}}
    assert len(data["node_types"]["dgx"]["gpus"]["mig"]) == 4


@pytest.mark.slow
@pytest.mark.parametrize("gres", ["gpu:h100_1g.10gb:14", "gpu:1g.10gb:14", f"{_MIG}1g.10gb:9,{_MIG}3g.40gb:1"])
def test_instances_of_no_known_gpu_and_uneven_ones_stay(imported: Imported, gres: str) -> None:
    """No GPU has instances that end so, or several families have them."""
    _, data = imported(slurm_conf=_CONF.format(types="gpu", gres=gres))
    assert data["node_types"]["g"]["slurm_options"]["Gres"] == gres
    assert "mig_plans" not in data.get("gpu", {})


@pytest.mark.slow
def test_detection_for_all_is_detection_where_there_are_gpus(imported: Imported) -> None:
    result, data = imported(slurm_conf=_CONF.format(types="gpu", gres="gpu:h100:8"), gres_conf="AutoDetect=nvml\n")
    assert data["node_types"]["g"]["gpus"]["autodetect"] == "nvml"
    [item] = result.compared
    assert (item.change.key, item.change.nodes, item.meant) == ("AutoDetect", "cpu[1-2]", True)


@pytest.mark.slow
def test_detection_on_nodes_with_a_gres_of_their_own_stays(imported: Imported) -> None:
    conf = _CONF.format(types="gpu", gres="gpu:h100:8").replace(
        "RealMemory=4000", "RealMemory=4000 Gres=gpu:volta:2,gpu:fermi:1"
    )
    _, data = imported(slurm_conf=conf, gres_conf="AutoDetect=nvml\n")
    assert data["slurm"]["gres_lines"] == [{"AutoDetect": "nvml"}]


_DEVICES = "NodeName=g[1-2] Name=gpu {type}File=/dev/nvidia[0-1] Cores=0-55\n"
_MORE_DEVICES = "NodeName=g[1-2] Name=gpu {type}File=/dev/nvidia[2-3] Cores=56-111\n"


@pytest.mark.parametrize(
    ("gres", "type", "gres_type"),
    [("gpu:4", "", False), ("gpu:fermi:4", "Type=fermi ", "fermi")],
    ids=["none", "fermi"],
)
def test_unknown_gpus_are_reported(imported: Imported, gres: str, type: str, gres_type: object) -> None:
    """Their places, and that they are counted with that type or with none, is all that the manifest says."""
    lines = (_DEVICES + _MORE_DEVICES).format(type=type)
    result, data = imported(slurm_conf=_CONF.format(types="gpu", gres=gres), gres_conf=lines)
    assert data["node_types"]["g"]["gpus"] == {
        "model": "unknown",
        "count": 4,
        "gres_type": gres_type,
        "numa": [0, 0, 1, 1],
    }
    assert not {"gres_lines", "options"} & data["slurm"].keys()
    assert "# CHECK: Slurm's files do not contain the GPU model" in result.text


@pytest.mark.parametrize("memory", [515896, 524288])
def test_a_system_is_recognised_without_a_type(imported: Imported, memory: int) -> None:
    """By what is left of its 512 GiB, or all of it, as some sites write."""
    conf = _CONF.format(types="gpu,shard", gres="gpu:8,shard:16")
    conf = conf.replace("CoresPerSocket=56", "CoresPerSocket=20").replace("RealMemory=1000000", f"RealMemory={memory}")
    _, data = imported(slurm_conf=conf)
    assert data["node_types"]["g"]["system"] == "dgx1-v100"
    assert data["node_types"]["g"]["gpus"] == {"gres_type": False, "shards": 2}


def test_percents_of_mps_that_are_none_leave_no_trace_of_a_gpu(imported: Imported) -> None:
    conf = _CONF.format(types="gpu,mps", gres="gpu:fermi:2,mps:22")
    lines = "NodeName=g[1-2] Name=gpu Type=fermi File=/dev/nvidia[0-1]\nNodeName=g[1-2] Name=mps Count=22 "
    result, data = imported(slurm_conf=conf, gres_conf=f"{lines}File=/dev/nvidia[0-1]\n")
    assert "gpus" not in data["node_types"]["g"]
    assert "which GPU" not in as_text(result)


@pytest.mark.parametrize("files", ["/dev/dri/renderD[128-131]", "/dev/nvidia[0-2],/dev/dri/renderD128"])
def test_gpus_of_others_stay_a_plain_gres(imported: Imported, files: str) -> None:
    """The manifest has fields for NVIDIA's GPUs alone."""
    lines = "".join(f"NodeName=g[1-2] Name=gpu File={file}\n" for file in files.split(","))
    _, data = imported(slurm_conf=_CONF.format(types="gpu", gres="gpu:4"), gres_conf=lines)
    assert data["node_types"]["g"]["slurm_options"] == {"Gres": "gpu:4"}
    assert len(data["slurm"]["gres_lines"]) == len(files.split(","))


@pytest.mark.parametrize(
    ("gres", "gpus"),
    [
        ("gpu:a100_1g.5gb:14", {"model": "a100-sxm-40", "count": 2, "mig_prefix": "a100", "mig": "mig-7x1g-5gb"}),
        (
            "gpu:a100:6,gpu:1g.10gb:8,gpu:3g.40gb:2",
            {
                "model": "a100-sxm-80",
                "count": 8,
                "gres_type": "a100",
                "mig_prefix": False,
                "mig": {"6": "mig-4x1g-10gb-1x3g-40gb", "7": "mig-4x1g-10gb-1x3g-40gb"},
            },
        ),
        ("gpu:hbm3_1g.10gb:7", {"model": "h100-sxm", "count": 1, "mig_prefix": "hbm3", "mig": "mig-7x1g-10gb"}),
    ],
)
def test_instances_with_shorter_types(imported: Imported, gres: str, gpus: dict[str, Any]) -> None:
    _, data = imported(slurm_conf=_CONF.format(types="gpu", gres=gres), gres_conf="AutoDetect=nvml\n")
    result = data["node_types"]["g"]["gpus"]
    if isinstance(result["mig"], dict):
        result["mig"] = {str(index): plan for index, plan in result["mig"].items()}
    assert result == gpus
    assert "gres_lines" not in data["slurm"]


@pytest.mark.slow
def test_lines_that_differ_in_file_or_node_only_are_one(imported: Imported) -> None:
    """Each node has its devices in the order that it had."""
    devices = [f"NodeName=g{node} Name=gpu Type=volta File=/dev/nvidia{index}" for node in (1, 2) for index in (1, 0)]
    devices += [f"NodeName=g{node} Name=mps Count=50 File=/dev/nvidia{index}" for node in (1, 2) for index in (0, 1)]
    devices += ["NodeName=g1 Name=tmp Count=7"]
    conf = _CONF.format(types="gpu,mps,tmp", gres="gpu:volta:2,mps:100")
    _, data = imported(slurm_conf=conf, gres_conf="\n".join(devices))
    assert data["slurm"]["gres_lines"] == [
        {"NodeName": "g[1-2]", "Name": "gpu", "Type": "volta", "File": "/dev/nvidia[1,0]"},
        {"NodeName": "g[1-2]", "Name": "mps", "Count": 100, "File": "/dev/nvidia[0-1]"},
        {"NodeName": "g1", "Name": "tmp", "Count": 7},
    ]


@pytest.mark.slow
def test_lines_do_not_jump_over_those_for_all_nodes(imported: Imported) -> None:
    devices = [
        "NodeName=g1 Name=gpu File=/dev/nvidia0",
        "Name=gpu File=/dev/nvidia1",
        "NodeName=g2 Name=gpu File=/dev/nvidia0",
    ]
    _, data = imported(slurm_conf=_CONF.format(types="gpu", gres="gpu:2"), gres_conf="\n".join(devices))
    assert len(data["slurm"]["gres_lines"]) == 3
