"""Where a real program is asked for and is not there, the test fails: `-m "not real"` leaves those tests out."""

from __future__ import annotations

import pytest

from clustergen.verify import slurm_roots
from clustergen.verify.slurm_roots import SlurmInstall

SLURM_RELEASES = ("22.05", "24.11", "26.05")


def require_slurm(release: str) -> SlurmInstall:
    """A real Slurm of this release."""
    found = slurm_roots.for_release(release)
    if found is None:
        pytest.fail(f"no Slurm {release} in {slurm_roots.parsers_folder()}: run tools/setup-parsers", pytrace=False)
    return found


@pytest.fixture(scope="session", params=SLURM_RELEASES)
def slurm(request: pytest.FixtureRequest) -> SlurmInstall:
    """Every supported real Slurm in turn."""
    return require_slurm(request.param)


@pytest.fixture(scope="session")
def current_slurm() -> SlurmInstall:
    """One real Slurm, for what does not depend on the release."""
    return require_slurm("24.11")
