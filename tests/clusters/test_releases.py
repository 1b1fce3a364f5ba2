"""Each example and fixture, rendered for each other release of Slurm that is installed, and read by its daemons: a node
of each compute type registers.

tests/verify/test_parsers.py has it with its own release.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen import compile as compiler
from clustergen.render.write import write
from clustergen.verify.checks import CHECKS
from clustergen.verify.run import verify

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = {
    path.stem if path.stem != "manifest" else path.parent.name: path
    for pattern in ("inventories/*/manifest.yaml", "tests/fixtures/verify/*.yaml")
    for path in sorted(ROOT.glob(pattern))
    if "\nslurm:" in path.read_text(encoding="utf-8")
}
# Lines of manifests that a release does not read; Debian builds 26.05 without PMIx.
OMITTED = {
    "22.05": ("  private_tmp: {dir", "  topology: {format: yaml", "  oci_jobs: "),
    "24.11": ("  topology: {format: yaml",),
    "26.05": ("  mpi_default: ", "  mpi_options: "),
}
# The system whose distribution has the release; Debian's next one counts as SchedMD's own packaging on this one.
SYSTEMS = {"22.05": "debian-12", "24.11": "debian-13", "26.05": "debian-13"}
SLURM = tuple(check for check in CHECKS if check.name.startswith("slurm"))


def for_release(path: Path, release: str, *, is_configless: bool) -> str:
    """The same cluster with another Slurm; an example is on the system that it comes with."""
    omitted = ("  build: ", *OMITTED[release], *(("  configless: ",) if is_configless else ()))
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith(omitted)]
    changed = []
    for line in lines:
        if line.startswith("os: ") and path.name == "manifest.yaml":
            line = f"os: {SYSTEMS[release]}"
        if line.startswith('  version: "'):
            line = f'  version: "{release}"\n  build: schedmd'
            if release == "26.05":
                line += "\n  mpi_default: pmi2"
            if is_configless:
                line += "\n  configless: true"
        changed.append(line)
    text = "\n".join(changed) + "\n"
    assert text.count(f'  version: "{release}"\n  build: schedmd') == 1
    return text


CASES = [
    *(
        pytest.param(path, release, False, id=f"{name}-{release}")
        for name, path in MANIFESTS.items()
        for release in SYSTEMS
        if f'  version: "{release}"\n' not in path.read_text(encoding="utf-8")
    ),
    *(
        pytest.param(path, release, True, id=f"{name}-{release}-configless", marks=pytest.mark.long)
        for name, path in MANIFESTS.items()
        for release in SYSTEMS
    ),
]


@pytest.mark.real
@pytest.mark.many
@pytest.mark.parametrize(("manifest", "release", "is_configless"), CASES)
def test_real_slurm_takes_it_without_a_complaint(
    manifest: Path, release: str, is_configless: bool, tmp_path: Path
) -> None:
    path = tmp_path / "manifest.yaml"
    text = for_release(manifest, release, is_configless=is_configless)
    path.write_text(text, encoding="utf-8")
    compiled = compiler.validate(path)
    assert compiled.ok, compiled.diagnostics
    assert compiled.cluster is not None
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
    registered = {row.what.split()[2] for row in rows if row.what.startswith("slurmd registers: ")}
    assert registered == {group.type.name for group in compiled.cluster.compute}
    assert {"slurmctld", "slurmd"} <= {row.parser for row in rows if row.status == "passed"}
