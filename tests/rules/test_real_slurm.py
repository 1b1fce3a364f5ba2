"""Real Slurm accepts what the rules accept: it starts with the files of every cabling, without an error."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.verify import slurm_roots
from clustergen.verify.slurm_daemons import SlurmReport, read_config
from strategies.fabrics import RIGHT
from strategies.findings import TINY, changed
from strategies.trees import lay_out

pytestmark = pytest.mark.real

SIX = changed(
    TINY, ("10.0.0.0/24", "fd00::/64"), ("address: 10.0.0.1,", 'address: "fd00::a",'), ("10.0.0.[11-14]", "fd00::[1-4]")
)


def ask(text: str, directory: Path) -> SlurmReport:
    """Report of the Slurm of the manifest's release, or the newest, about the files on the head node."""
    directory.mkdir()
    path = directory / "manifest.yaml"
    path.write_text(text, encoding="utf-8")
    tree, result = compiler.render(compiler.validate(path), path)
    assert tree is not None, result
    stated = re.search(r'version: "([0-9.]+)"', text)
    release = stated[1] if stated and stated[1] in ("22.05", "24.11") else "26.05"
    install = slurm_roots.for_release(release)
    assert install is not None, f"no Slurm {release}: run clustergen setup parsers"
    return read_config(install, lay_out(tree, "head", directory / "root"))


def test_slurm_starts_with_every_cabling(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        asked = {name: pool.submit(ask, text, tmp_path / str(i)) for i, (name, text) in enumerate(RIGHT.items())}
    reports = {name: future.result() for name, future in asked.items()}
    assert {
        name: output.complaints for name, output in reports.items() if output.complaints or not output.started
    } == {}


def test_slurm_listens_to_ipv6(tmp_path: Path) -> None:
    report = ask(SIX, tmp_path / "six")
    assert report.complaints == ()
    assert report.started
