"""Real slurmctld shows the same of the rendered files as of the originals, also if it reads them while it runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustergen.compile import render, validate
from clustergen.importer.directory import import_directory
from clustergen.verify import sandbox, slurm_roots
from clustergen.verify.slurm_daemons import read_config
from clustergen.verify.slurm_roots import SlurmInstall
from clustergen.verify.slurm_surroundings import invented_hosts, of_directory, own_addresses

pytestmark = [pytest.mark.real, pytest.mark.slow]

DIRECTORIES = Path(__file__).with_name("directories")
_GROUPS = ("slurm_node", "slurm_conf_server", "slurm_controller")
_SCRIPT = """
export SLURM_CONF=/etc/slurm/slurm.conf
id slurm >/dev/null 2>&1 || echo slurm:x:64030:64030::/nonexistent:/bin/false >>/etc/passwd
mkdir -p /run/munge /etc/munge /var/log/munge /var/lib/munge
head -c 128 /dev/urandom >/etc/munge/munge.key
chmod 700 /etc/munge /var/log/munge; chmod 400 /etc/munge/munge.key; chmod 755 /run/munge
chown -R munge /run/munge /etc/munge /var/log/munge /var/lib/munge
setpriv --reuid "$(id -u munge)" --clear-groups munged
for side in old new; do
  rm -rf /etc/slurm/* /srv/slurm; cp /sides/$side/* /etc/slurm/
  mkdir -p /srv/slurm/state; chmod -R 777 /srv/slurm /var/log
  slurmctld -D >/run/clustergen/$side.log 2>&1 &
  log=/run/clustergen/$side.log
  for _ in {1..3000}; do grep -qE 'Running as primary controller|fatal' $log && break; sleep 0.02; done
  for _ in {1..600}; do scontrol ping 2>/dev/null | grep -q 'is UP' || grep -q fatal $log && break; sleep 0.1; done
  show() { for what in config node partition topology; do timeout 20 scontrol -o show $what >$1.$what 2>&1; done; }
  show ${log%.log}
  if [ $side = old ] && [ -e /run/clustergen/adopts ]; then
    cp /sides/new/* /etc/slurm/
    timeout 60 scontrol reconfigure >${log%old.log}adopted.log 2>&1
    for _ in {1..600}; do scontrol ping 2>/dev/null | grep -q 'is UP' && break; sleep 0.1; done
    show ${log%old.log}adopted
  fi
  kill -9 $! $(pidof slurmctld) 2>/dev/null; wait $! 2>/dev/null
done
"""
_OF_THE_MOMENT = re.compile(
    r"^(Configuration data as of|BOOT_TIME|NEXT_JOB_ID|Slurmctld\(|MULTIFACTOR|.*HASH_VAL).*\n|"
    r" (BootTime|SlurmdStartTime|LastBusyTime|ResumeAfterTime)=\S+| \[\S+@\S+\]"
    r"|\+NOT_RESPONDING"
    r"| LinkSpeed=\d+",  # which it reads, shows, and uses for nothing
    re.MULTILINE,
)
_CONF = """\
ClusterName=c
SlurmctldHost=head
SlurmUser=slurm
StateSaveLocation=/srv/slurm/state
KillWait=30
NodeName=n[1-8] CPUs=4 RealMemory=4000
PartitionName=p Nodes=ALL OverSubscribe=NO
"""
_BLOCKS = "BlockName=b2 Nodes=n[5-8]\nBlockName=b1 Nodes=n[1-4]\nBlockSizes=4,8\n"
_YAML_BLOCKS = """\
- topology: hall
  cluster_default: true
  block: {block_sizes: [4, 8], blocks: [{block: b2, nodes: "n[5-8]"}, {block: b1, nodes: "n[1-4]"}]}
"""
_YAML_TREE = """\
- topology: hall
  tree:
    switches: [{switch: top, children: "a[1-2]"}, {switch: a1, nodes: "n[1-4]"}, {switch: a2, nodes: "n[5-8]"}]
"""


def _rendered(source: Path, directory: Path, version: str) -> Path:
    """The directory of the files that the import of `source` renders to."""
    import_result = import_directory(source, version=version)
    assert import_result.same, import_result.compared
    manifest = directory / "manifest.yaml"
    manifest.write_text(import_result.text, encoding="utf-8")
    compiled = validate(manifest)
    tree, _ = render(compiled, manifest)
    assert tree is not None
    out = directory / "rendered"
    out.mkdir()
    for file in tree:
        if file.group in _GROUPS and file.target and file.target.startswith("/etc/slurm/"):
            (out / file.target.rpartition("/")[2]).write_bytes(file.content)
    return out


def _shown(
    install: SlurmInstall, source: Path, out: Path, directory: Path, names: tuple[str, ...], *, adopts: bool = False
) -> list[list[str]]:
    """The output of scontrol for both sides, without the time; `names` have to be among it. With `adopts`, also what
    a slurmctld shows that was started from the old side and has read the new one.
    """
    sides = directory / "sides"
    for name, where in (("old", source), ("new", out)):
        (sides / name).mkdir(parents=True)
        for file in (*where.glob("*.conf"), *where.glob("*.yaml")):
            (sides / name / file.name).write_bytes(file.read_bytes())
    around = of_directory(source, ())
    hosts = invented_hosts([*around.names, "head2"])
    box = sandbox.Sandbox(
        root=install.path,
        files=((sides, "/sides"),),
        empty=("/etc/slurm",),
        hosts=hosts,
        hostname=around.controller,
        addresses=own_addresses(around.own_names, hosts) or ("198.18.0.1",),
    )
    adoption = {"adopts": ""} if adopts else {}
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=300, notes={"script": _SCRIPT} | adoption)
    items = []
    for side in ("old", "new", *(["adopted"] if adopts else [])):
        assert "fatal" not in done.files[f"{side}.log"], done.files[f"{side}.log"]
        text = "".join(done.files[f"{side}.{what}"] for what in ("config", "node", "partition", "topology"))
        for name in names:
            assert f"{name} " in text
        lines = _OF_THE_MOMENT.sub("", text).splitlines()
        switches = sorted(line for line in lines if line.startswith("SwitchName="))  # their order means nothing
        items.append([line for line in lines if line not in switches] + switches)
    return items


def _release(install: SlurmInstall) -> str:
    return ".".join(install.version.split(".")[:2])


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("university", ("NodeName=neu4", "PartitionName=gpu", "SwitchName=opa2")),
        ("hall", ("NodeName=g3", "PartitionName=batch", "SwitchName=rowb")),
    ],
)
def test_scontrol_shows_the_same_for_both_sides(
    slurm: SlurmInstall, tmp_path: Path, name: str, names: tuple[str, ...]
) -> None:
    source = tmp_path / "slurm"
    source.mkdir()
    for file in (DIRECTORIES / name).iterdir():
        (source / file.name).write_bytes(file.read_bytes())
    out = _rendered(source, tmp_path, _release(slurm))
    old, new, adopted = _shown(slurm, source, out, tmp_path, names, adopts=True)
    assert old == new == adopted


@pytest.mark.parametrize(
    ("release", "plugin", "file", "text", "name"),
    [
        ("24.11", "TopologyPlugin=topology/block\n", "topology.conf", _BLOCKS, "BlockName=b2"),
        ("26.05", "TopologyPlugin=topology/block\n", "topology.conf", _BLOCKS, "BlockName=b2"),
        ("26.05", "", "topology.yaml", _YAML_BLOCKS, "BlockName=b2"),
        ("26.05", "", "topology.yaml", _YAML_TREE, "SwitchName=a2"),
    ],
)
def test_blocks_and_topology_yaml(tmp_path: Path, release: str, plugin: str, file: str, text: str, name: str) -> None:
    source = tmp_path / "slurm"
    source.mkdir()
    (source / "slurm.conf").write_text(plugin + _CONF, encoding="utf-8")
    (source / file).write_text(text, encoding="utf-8")
    out = _rendered(source, tmp_path, release)
    install = slurm_roots.for_release(release)
    assert install is not None, f"no Slurm {release}: run clustergen setup parsers"
    old, new = _shown(install, source, out, tmp_path, ("NodeName=n8", name))
    assert old == new


@pytest.mark.parametrize("name", ["university", "hall"])
def test_slurm_accepts_the_rendered_files(slurm: SlurmInstall, tmp_path: Path, name: str) -> None:
    out = _rendered(DIRECTORIES / name, tmp_path, _release(slurm))
    report = read_config(slurm, out)
    assert report.started, report.complaints
    assert [words for words in report.complaints if "fatal" in words] == []


def test_slurmd_sees_the_same_devices_in_folded_lines(slurm: SlurmInstall, tmp_path: Path) -> None:
    source = tmp_path / "slurm"
    source.mkdir()
    nodes = {"a1": "gpu:volta:4,mps:200", "a2": "gpu:volta:4,mps:200", "b1": "gpu:volta:4,shard:16"}
    lines = [f"NodeName={name} Sockets=2 CoresPerSocket=4 RealMemory=4000 Gres={gres}" for name, gres in nodes.items()]
    types = "GresTypes=gpu,mps,shard\nSelectType=select/cons_tres\n"
    (source / "slurm.conf").write_text("\n".join([types + _CONF, *lines, ""]), encoding="utf-8")
    cores = ("0-3", "0-3", "4-7", "4-7")
    devices = [
        f"NodeName={name} Name=gpu Type=volta File=/dev/nvidia{index} Cores={cores[index]}"
        for name in nodes
        for index in range(4)
    ]
    for name, shared in (("a1", "mps Count=50"), ("a2", "mps Count=50"), ("b1", "shard Count=4")):
        devices += [f"NodeName={name} Name={shared} File=/dev/nvidia{index}" for index in range(4)]
    (source / "gres.conf").write_text("\n".join([*devices, ""]), encoding="utf-8")
    out = _rendered(source, tmp_path, _release(slurm))
    old, new = (read_config(slurm, directory, None, tuple(nodes)) for directory in (source, out))
    assert old.started
    assert old.gres == new.gres
    assert all(listed.count("Name=gpu ") == 4 and "Cores=4-7" in listed for listed in new.gres.values())
    folded = [line for line in (out / "gres.conf").read_text().splitlines() if line.startswith("NodeName=")]
    assert len(folded) == 4 < len(devices)


def test_gpus_without_types_unknown_ones_and_short_names_of_instances(slurm: SlurmInstall, tmp_path: Path) -> None:
    source = tmp_path / "slurm"
    source.mkdir()
    nodes = {"a1": "gpu:4", "b1": "gpu:fermi:2", "c1": "gpu:a100_1g.5gb:14"}
    lines = [f"NodeName={name} Sockets=2 CoresPerSocket=4 RealMemory=4000 Gres={gres}" for name, gres in nodes.items()]
    types = "GresTypes=gpu\nSelectType=select/cons_tres\n"
    (source / "slurm.conf").write_text("\n".join([types + _CONF, *lines, ""]), encoding="utf-8")
    devices = [
        "NodeName=a1 Name=gpu File=/dev/nvidia[0-1] Cores=0-3",
        "NodeName=a1 Name=gpu File=/dev/nvidia[2-3] Cores=4-7",
        "NodeName=b1 Name=gpu Type=fermi File=/dev/nvidia[0-1]",
        "NodeName=c1 AutoDetect=nvml",
    ]
    (source / "gres.conf").write_text("\n".join([*devices, ""]), encoding="utf-8")
    out = _rendered(source, tmp_path, _release(slurm))
    assert "gres_lines" not in (tmp_path / "manifest.yaml").read_text()
    assert "Gres:" not in (tmp_path / "manifest.yaml").read_text()
    old, new = _shown(slurm, source, out, tmp_path, ("NodeName=c1",))
    assert old == new
    assert any("Gres=gpu:a100_1g.5gb:14" in line for line in new)
    before, after = (read_config(slurm, directory, None, ("a1", "b1")) for directory in (source, out))
    assert before.gres == after.gres
    assert after.gres["a1"].count("Name=gpu Type=(null) Count=2 ") == 2
    assert "Type=fermi" in after.gres["b1"]
