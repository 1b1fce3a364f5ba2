"""The container image of tools/build-image: for any user, with a read-only root, without a network."""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from strategies.pages import ROOT

pytestmark = pytest.mark.container

PAGE = (ROOT / "docs/container-image.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "inventories/ml-training"
DOCUMENTS = [yaml.safe_load(text) for text in re.findall(r"(?m)^```yaml ci\n((?:(?!```).*\n)*)", PAGE)]
JOBS = [job for document in DOCUMENTS for job in document.get("jobs", document).values()]
ANY_USER = ("--user", "4711:4711")
NO_ROOT = ("--uidmap=0:200000:65536", "--gidmap=0:200000:65536")
"""The container's root is an ordinary user outside, as with podman without root."""


def run(*command: str | Path, timeout: float = 500) -> subprocess.CompletedProcess[str]:
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout, check=False)


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    name = f"localhost/clustergen-test:{os.getpid()}"
    built = run(sys.executable, ROOT / "tools/build-image", name)
    assert built.returncode == 0, built.stderr
    yield name
    run("podman", "image", "rm", "--force", name)


@pytest.fixture(scope="module")
def site() -> Iterator[Path]:
    """A directory with a manifest, its tree and a slurm.conf, which every user may write to."""
    with tempfile.TemporaryDirectory() as place:
        work = Path(place, "work")
        shutil.copytree(EXAMPLE, work)
        (work / "slurm.conf").write_text("ClusterName=c\nSlurmctldHost=head\nFastSchedule=1\n", encoding="utf-8")
        run("chmod", "-R", "a+rwX", place)
        yield work


class Container:
    """Runs the image as docs/container-image.md shows it, but with less."""

    def __init__(self, image: str, site: Path) -> None:
        files = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 20000)
        processes = min(resource.getrlimit(resource.RLIMIT_NPROC)[1], 32768)
        self.command = ["podman", "run", "--rm", "--read-only", "--network=none", f"--volume={site}:/work"]
        self.command += [f"--ulimit=nofile={files}:{files}", f"--ulimit=nproc={processes}:{processes}"]
        self.image = image

    def __call__(self, *arguments: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        return run(*self.command, *options, self.image, *arguments)


@pytest.fixture(scope="module")
def container(image: str, site: Path) -> Container:
    return Container(image, site)


@pytest.mark.parametrize("options", [ANY_USER, NO_ROOT], ids=["any-user", "no-root"])
def test_a_manifest_is_checked_rendered_and_compared(
    container: Container, site: Path, options: tuple[str, ...]
) -> None:
    valid = container("validate", options=options)
    assert valid.returncode == 0, valid.stdout + valid.stderr
    findings = container("lint", "slurm.conf", options=options)
    assert findings.returncode == 1, findings.stdout + findings.stderr
    assert "slurm.conf:3:1: " in findings.stdout
    tree = f"tree{options[0]}"
    rendered = container("render", "--output", tree, options=options)
    assert rendered.returncode == 0, rendered.stderr
    compared = run("diff", "-r", site / tree, EXAMPLE / "rendered")
    assert compared.returncode == 0, compared.stdout
    same = container("diff", "rendered", tree, options=options)
    assert same.returncode == 0, same.stdout + same.stderr


def test_any_user_reads_all_but_what_the_page_names(container: Container) -> None:
    assert "| podman with `--user` | Slurm, systemd's manager, logrotate |" in PAGE
    done = container("verify", "rendered", options=ANY_USER)
    assert done.returncode == 3, done.stdout + done.stderr
    names = dict.fromkeys(re.findall(r"(?m)^not run +(\w+)", done.stdout))
    assert list(names) == ["slurmctld", "slurmd", "systemd", "logrotate"]
    assert "failed" not in done.stdout


def test_no_file_of_the_image_is_a_key_or_gives_rights_but_to_map_ids(container: Container) -> None:
    script = "find / -xdev -type f -perm /6000; find / -xdev -name '*host*key' -o -xdev -name munge.key"
    done = container("-c", script, options=("--entrypoint", "sh"))
    assert sorted(done.stdout.split()) == ["/usr/bin/newgidmap", "/usr/bin/newuidmap"]


@pytest.fixture(scope="module")
def merge_request(site: Path) -> Path:
    """A repository in which the time limit of a partition differs from the main branch of its origin."""
    work = site.with_name("repository")
    shutil.copytree(EXAMPLE, work)
    git = ["git", "-C", work, "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "first"]):
        assert run(*git, *words).returncode == 0
    run("git", "clone", "-q", "--bare", work, site.with_name("origin.git"))
    run(*git, "remote", "add", "origin", "/origin.git")
    manifest = work / "manifest.yaml"
    text = manifest.read_text(encoding="utf-8")
    assert "max_time: 30," in text
    manifest.write_text(text.replace("max_time: 30,", "max_time: 60,"), encoding="utf-8")
    assert run(sys.executable, "-m", "clustergen", "render", manifest).returncode == 0
    run("chmod", "-R", "a+rwX", work, site.with_name("origin.git"))
    return work


@pytest.mark.many
@pytest.mark.parametrize("job", JOBS, ids=["gitlab", "github"])
def test_the_jobs_of_the_page_run_every_check_with_its_option(
    image: str, merge_request: Path, job: dict[str, Any]
) -> None:
    lines = job.get("script") or ["git fetch -q origin main:refs/remotes/origin/main", *_steps(job)]
    names = {
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": "/tmp/summary",
    }
    options = [
        "--entrypoint=sh",
        "--cap-add=sys_admin",
        *NO_ROOT,
        f"--volume={merge_request.parent}/origin.git:/origin.git",
    ]
    options += [f"--env={name}={value}" for name, value in names.items()]
    done = Container(image, merge_request)(
        "-ec", "\n".join([*lines, "[ ! -e /tmp/summary ] || cat /tmp/summary"]), options=tuple(options)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "00:30:00" in done.stdout  # of the main branch


def _steps(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]
