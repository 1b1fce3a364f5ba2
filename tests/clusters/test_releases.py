"""Each example cluster, rendered for each other release of Slurm that is installed, and read by its daemons.

tests/verify/test_parsers.py has it with its own release.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.render.write import write
from clustergen.verify.checks import CHECKS
from clustergen.verify.run import verify

INVENTORIES = sorted((Path(__file__).resolve().parents[2] / "inventories").iterdir())
# The system whose distribution has the release; Debian's next one counts as SchedMD's own packaging on this one.
SYSTEMS = {"22.05": "debian-12", "24.11": "debian-13", "26.05": "debian-13"}
SLURM = tuple(check for check in CHECKS if check.name.startswith("slurm"))


def for_release(manifest: str, release: str) -> str:
    """The same cluster with another Slurm, on the system that it comes with."""
    lines = [line for line in manifest.splitlines() if not line.startswith("  build: ")]
    changed = []
    for line in lines:
        if line.startswith("os: "):
            line = f"os: {SYSTEMS[release]}"
        if line.startswith('  version: "'):
            line = f'  version: "{release}"\n  build: schedmd'
            if release == "26.05":
                line += "\n  mpi_default: pmi2"  # Debian builds this release without PMIx
        changed.append(line)
    text = "\n".join(changed) + "\n"
    assert text.count(f'  version: "{release}"\n  build: schedmd') == 1
    return text


CASES = [
    pytest.param(path, release, id=f"{path.name}-{release}")
    for path in INVENTORIES
    for release in SYSTEMS
    if f'  version: "{release}"\n' not in (path / "manifest.yaml").read_text(encoding="utf-8")
]


@pytest.mark.real
@pytest.mark.many
@pytest.mark.parametrize(("inventory", "release"), CASES)
def test_real_slurm_takes_it_without_a_complaint(inventory: Path, release: str, tmp_path: Path) -> None:
    path = tmp_path / "manifest.yaml"
    path.write_text(for_release((inventory / "manifest.yaml").read_text(encoding="utf-8"), release), encoding="utf-8")
    compiled = compiler.validate(path)
    assert compiled.ok, compiled.diagnostics
    tree, result = compiler.render(compiled, path)
    assert tree is not None, result
    write(tree, tmp_path / "rendered")
    rows = verify(tmp_path / "rendered", SLURM)
    assert rows
    for row in rows:
        if row.status == "no parser":  # a plugin of somebody else's, built at the site
            assert all("spank_pyxis.so is in no distribution" in words for words in row.words), row
            continue
        assert row.status == "passed", (row.parser, row.words)
        asked = "24.11" if (row.check, release) == ("slurm hardware", "26.05") else release  # the last one with NVML
        assert not row.version or row.version.startswith(asked)
    assert {"slurmctld", "slurmd", "slurmdbd"} <= {row.parser for row in rows if row.status == "passed"}
