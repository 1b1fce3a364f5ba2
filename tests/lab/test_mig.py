"""MIG without a driver: every instance of the manifest has device files, and Slurm counts what slurm.conf says."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from clustergen.compile import validate
from clustergen.hostlist import expand
from clustergen.lab.mig import instances
from clustergen.lab.model import Lab, Wish
from clustergen.lab.prepare import prepare

MANIFEST = Path(__file__).parents[2] / "inventories/dgx-a100-mig/manifest.yaml"


@pytest.fixture(params=[[], ["1"]], ids=["whole", "small"])
def lab(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setenv("CLUSTERGEN_LAB", str(tmp_path / "labs-of-this-test"))
    return prepare(validate(MANIFEST), MANIFEST, None, Wish(request.param))


def lines(lab: Lab, name: str) -> Iterator[dict[str, str]]:
    text = (lab.work.tree / "overlays/slurm_node/etc/slurm" / name).read_text()
    for line in re.findall(r"^NodeName=.*$", text, re.MULTILINE):
        yield dict(word.split("=", 1) for word in line.split())


@pytest.mark.slow
def test_gres_conf_has_what_slurm_conf_counts(lab: Lab) -> None:
    expected = {
        host: dict(re.findall(r"gpu:([\w.]+):(\d+)", line["Gres"]))
        for line in lines(lab, "slurm.conf")
        if "Gres" in line
        for host in expand(line["NodeName"])
    }
    values: dict[str, Counter[str]] = {host: Counter() for host in expected}
    for line in lines(lab, "gres.conf"):
        assert "AutoDetect" not in line
        for host in expand(line["NodeName"]):
            values[host][line["Type"]] += len(expand(line["File"].removeprefix("/dev/"))) if "File" in line else 1
    assert {h: {t: int(n) for t, n in types.items()} for h, types in expected.items()} == values
    assert any("1g" in kind for types in values.values() for kind in types)


def test_files_of_instances_are_numbered_as_by_the_driver() -> None:
    """/proc/driver/nvidia-caps/mig-minors: 135 files for each GPU, 9 of them for each of its instances."""
    cluster = validate(MANIFEST).cluster
    assert cluster is not None
    kind = next(kind for kind in cluster.gpu_types if kind.gpus and any(kind.gpus.mig))
    minors = {
        gpu: [part.minors for part in group] for gpu, group in groupby(instances(kind.gpus), lambda part: part.gpu)
    }
    assert minors[0][:2] == [(3, 4), (12, 13)]
    assert minors[1][:2] == [(138, 139), (147, 148)]


@pytest.mark.slow
def test_each_instance_has_its_gpu_and_two_files_of_its_own(lab: Lab) -> None:
    kind = next(kind for kind in lab.cluster.gpu_types if kind.gpus and any(kind.gpus.mig))
    made = list(instances(kind.gpus))
    minors = [minor for part in made for minor in part.minors]
    assert len(minors) == len(set(minors)) == 2 * 34
    files = [line["MultipleFiles"].split(",") for line in lines(lab, "gres.conf") if "MultipleFiles" in line]
    assert sorted(files) == sorted(part.files.split(",") for part in made)
    assert {names[0] for names in files} == {f"/dev/nvidia{gpu}" for gpu in range(8)}
