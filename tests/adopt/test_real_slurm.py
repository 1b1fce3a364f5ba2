"""Real slurmctld shows the same settings, nodes, partitions and switches of the rendered files as of the originals."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clustergen.adopt.adopt import adopt
from clustergen.compile import render, validate
from clustergen.verify import sandbox
from clustergen.verify.slurm_daemons import read_config
from clustergen.verify.slurm_roots import SlurmInstall
from clustergen.verify.slurm_surroundings import invented_hosts, of_folder, own_addresses

pytestmark = [pytest.mark.real, pytest.mark.slow]

FOLDERS = Path(__file__).with_name("folders")
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
  for _ in {1..500}; do grep -qE 'Running as primary controller|fatal' $log && break; sleep 0.02; done
  for _ in {1..50}; do scontrol ping 2>/dev/null | grep -q 'is UP' && break; sleep 0.1; done
  for what in config node partition topology; do timeout 20 scontrol -o show $what >${log%log}$what 2>&1; done
  kill -9 $!; wait $! 2>/dev/null
done
"""
_OF_THE_MOMENT = re.compile(
    r"^(Configuration data as of|BOOT_TIME|NEXT_JOB_ID|Slurmctld\(|MULTIFACTOR|.*HASH_VAL).*\n|"
    r" (BootTime|SlurmdStartTime|LastBusyTime|ResumeAfterTime)=\S+| \[\S+@\S+\]",
    re.MULTILINE,
)


def _rendered(source: Path, folder: Path, version: str) -> Path:
    """The folder of the files that the import of `source` renders to."""
    found = adopt(source, version=version)
    assert found.same, found.compared
    manifest = folder / "manifest.yaml"
    manifest.write_text(found.text, encoding="utf-8")
    compiled = validate(manifest)
    tree, _ = render(compiled, manifest)
    assert tree is not None
    out = folder / "rendered"
    out.mkdir()
    for file in tree:
        if file.group in _GROUPS and file.target and file.target.startswith("/etc/slurm/"):
            (out / file.target.rpartition("/")[2]).write_bytes(file.content)
    return out


def _shown(install: SlurmInstall, source: Path, out: Path, folder: Path) -> list[list[str]]:
    """What scontrol shows of both sides, without what time it is."""
    sides = folder / "sides"
    for name, where in (("old", source), ("new", out)):
        (sides / name).mkdir(parents=True)
        for file in where.glob("*.conf"):
            (sides / name / file.name).write_bytes(file.read_bytes())
    around = of_folder(source, ())
    hosts = invented_hosts([*around.names, "head2"])
    box = sandbox.Sandbox(
        root=install.path,
        files=((sides, "/sides"),),
        empty=("/etc/slurm",),
        hosts=hosts,
        hostname=around.controller,
        addresses=own_addresses(around.own_names, hosts) or ("198.18.0.1",),
    )
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=100, notes={"script": _SCRIPT})
    found = []
    for side in ("old", "new"):
        assert "fatal" not in done.files[f"{side}.log"], done.files[f"{side}.log"]
        text = "".join(done.files[f"{side}.{what}"] for what in ("config", "node", "partition", "topology"))
        assert "NodeName=neu4 " in text
        assert "PartitionName=gpu " in text
        found.append(_OF_THE_MOMENT.sub("", text).splitlines())
    return found


def test_what_slurm_shows_is_the_same(slurm: SlurmInstall, tmp_path: Path) -> None:
    source = tmp_path / "slurm"
    source.mkdir()
    for file in (FOLDERS / "university").iterdir():
        (source / file.name).write_bytes(file.read_bytes())
    out = _rendered(source, tmp_path, ".".join(slurm.version.split(".")[:2]))
    old, new = _shown(slurm, source, out, tmp_path)
    assert old == new


def test_slurm_accepts_the_rendered_files(slurm: SlurmInstall, tmp_path: Path) -> None:
    version = ".".join(slurm.version.split(".")[:2])
    out = _rendered(FOLDERS / "university", tmp_path, version)
    report = read_config(slurm, out)
    assert report.started, report.complaints
    assert [words for words in report.complaints if "fatal" in words] == []
