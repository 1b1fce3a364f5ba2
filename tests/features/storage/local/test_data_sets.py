"""The cache of data sets of a node: jobs copy once, and cleaning keeps what is in use and stays in its directory."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from strategies.trees import COMPUTE, GPU, HEAD, codes_of, manifest, node_files, runnable, text_of, tree_of

SCRATCH = {"type": "local", "mount": "/scratch", "device": "LABEL=scratch"}
MORE = {**SCRATCH, "mount": "/more", "device": "LABEL=more", "data_sets": {"size": "1GB"}}
DISKS = [{"device": "nvme1n1", "size": "2TB", "use": "scratch"}]
MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
ME = str(os.getuid())
DAY = 86400


def cached(**changes: Any) -> dict[str, Any]:
    cache = {"size": "1TB", **changes.pop("data_sets", {})}
    types = {"gpu": {**GPU, "disks": DISKS}}
    storage = {"scratch": {**SCRATCH, "data_sets": cache}}
    return manifest(**{"nodes": [HEAD, MONITOR, COMPUTE], "node_types": types, "storage": storage, **changes})


class Node:
    """The two programs with a cache below a directory, and processes that a test chooses."""

    def __init__(self, directory: Path, **changes: str) -> None:
        self.directory = directory
        self.cache = directory / "scratch/data-sets"
        self.mine = self.cache / ME
        self.proc = directory / "proc"
        for place in (self.mine, self.proc, directory / "bin", directory / "usr/local/sbin"):
            place.mkdir(parents=True)
        self.cache.chmod(0o755)
        tree = tree_of(cached(data_sets={"size": "1MB", "days": 30}), directory)
        replaced = {
            "/scratch": str(directory / "scratch"),
            'Path("/proc")': f'Path("{self.proc}")',
            "os.path.ismount(": "os.path.isdir(",
            **changes,
        }
        self.clean_program, self.copy_program = (
            runnable(tree, "c1", path, directory / "c1", replaced)
            for path in ("/usr/local/sbin/clustergen-data-sets", "/usr/local/bin/clustergen-data-set")
        )
        write = directory / "c1/usr/local/sbin/clustergen-write"
        write.write_text(f"#!/bin/sh\ncat >{directory}/metrics\n", encoding="utf-8")
        write.chmod(0o755)

    def process(self, number: int, job: str = "", opened: Path | None = None, cgroup: str = "") -> None:
        place = self.proc / str(number)
        (place / "fd").mkdir(parents=True)
        (place / "cgroup").write_text(f"0::/system.slice/{cgroup}\n", encoding="utf-8")
        (place / "environ").write_bytes(f"A=1\0SLURM_JOB_ID={job}\0".encode() if job else b"A=1\0")
        if opened:
            (place / "fd/3").symlink_to(opened)

    def data_set(self, name: str, size: int = 1000, days: float = 0, job: str = "") -> Path:
        place = self.mine / name
        (place / "jobs").mkdir(parents=True)
        (place / "file").write_bytes(b"x" * size)
        if job:
            (place / "jobs" / job).touch()
        os.utime(place, (time.time() - days * DAY,) * 2)
        return place

    def clean(self) -> list[str]:
        done = subprocess.run([sys.executable, self.clean_program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return sorted(line.split(":")[0].removeprefix("removed ").replace("'", "") for line in done.stdout.splitlines())

    def copy(self, source: Path, job: str = "7", **variables: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "SLURM_JOB_ID": job, **variables}
        command = [sys.executable, self.copy_program, source]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def test_nodes_have_the_programs_and_jobs_the_variable(tmp_path: Path) -> None:
    tree = tree_of(cached(), tmp_path)
    assert "/usr/local/bin/clustergen-data-set" in node_files(tree, "c1")
    assert "/usr/local/bin/clustergen-data-set" not in node_files(tree, "head")
    assert "/scratch/data-sets UID" in text_of(tree, "c1", "/etc/clustergen/job-directories.sh").replace("'", "")
    values = text_of(tree, "c1", "/etc/clustergen/task-prolog.sh")
    script = text_of(tree, "c1", "/etc/slurm/task_prolog").replace(". /etc/clustergen/task-prolog.sh", values)
    run = ["bash", "-c", script]
    exported = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert f"export DATA_SET_CACHE=/scratch/data-sets/{ME}" in exported
    stated = {**os.environ, "DATA_SET_CACHE": "/mine"}
    assert "DATA_SET" not in subprocess.run(run, capture_output=True, text=True, check=True, env=stated).stdout


@pytest.mark.parametrize(
    ("data_sets", "more", "codes"),
    [
        ({"size": "2TB"}, {}, []),
        ({"size": "2001GB"}, {}, ["data-sets-too-large"]),
        ({"size": "0GB"}, {}, ["value-out-of-range"]),
        (
            {},
            {"more": MORE},
            ["data-sets-twice"],
        ),
    ],
    ids=["whole", "larger", "empty", "twice"],
)
def test_a_cache_is_not_larger_than_its_disk(
    data_sets: dict[str, str], more: dict[str, Any], codes: list[str], tmp_path: Path
) -> None:
    data = cached(data_sets=data_sets)
    data["storage"] |= more
    assert codes_of(data, tmp_path) == codes


@pytest.mark.slow
def test_two_jobs_at_once_copy_once(tmp_path: Path) -> None:
    node, source = Node(tmp_path), tmp_path / "source"
    (source / "a/b").mkdir(parents=True)
    for number in range(50):
        (source / f"a/b/{number}").write_bytes(b"x" * 1000)
    (source / "link").symlink_to("a/b/1")
    (tmp_path / "bin/cp").write_text(f'#!/bin/sh\necho copy >>{tmp_path}/copies\nsleep 1\nexec /bin/cp "$@"\n')
    (tmp_path / "bin/cp").chmod(0o755)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    jobs = [node.copy(source, job, PATH=path) for job in ("7", "8")]
    answers = [job.communicate(timeout=300) for job in jobs]
    places = {out.strip() for out, _ in answers}
    assert len(places) == 1, answers
    copy = Path(places.pop())
    assert copy.is_relative_to(node.mine)
    assert (tmp_path / "copies").read_text() == "copy\n"
    assert sorted(file.name for file in (copy.parent / "jobs").iterdir()) == ["7", "8"]
    assert subprocess.run(["diff", "-r", "--no-dereference", source, copy], check=False).returncode == 0
    os.utime(source, (0, 0))  # another release
    (source / "new").write_text("new")
    assert (Path(node.copy(source, "9", PATH=path).communicate(timeout=300)[0].strip()) / "new").read_text() == "new"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "size", "words"),
    [("7", 2_000_000, "no room"), ("", 10, "not a job"), ("7", -1, "not a directory of this user")],
    ids=["too-large", "no-job", "link"],
)
def test_a_job_without_a_copy_reads_from_the_source(job: str, size: int, words: str, tmp_path: Path) -> None:
    node, source = Node(tmp_path), tmp_path / "source"
    source.write_bytes(b"x" * max(size, 0))
    if size < 0:
        node.mine.rmdir()
        node.mine.symlink_to(tmp_path)
    out, err = node.copy(source, job).communicate(timeout=300)
    assert out.strip() == str(source)
    assert words in err
    assert not [path for path in node.cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.slow
def test_links_that_a_copy_would_break_are_not_copied(tmp_path: Path) -> None:
    """A snapshot of a model in Hugging Face's cache has links to files beside it."""
    node, source = Node(tmp_path), tmp_path / "snapshot"
    (source / "sub").mkdir(parents=True)
    for name, target in {"top": "..", "sub/whole": "..", "absolute": "/etc/hosts"}.items():
        (source / name).symlink_to(target)
    out, err = node.copy(source).communicate(timeout=300)
    assert out.strip() == str(source)
    assert f"{source}/top leads out of {source}" in err
    (source / "top").unlink()
    assert node.copy(source).communicate(timeout=300)[0].startswith(str(node.mine))


@pytest.mark.slow
def test_a_copy_of_directories_without_write_permission_is_replaced(tmp_path: Path) -> None:
    node, source = Node(tmp_path), tmp_path / "source"
    (source / "a").mkdir(parents=True)
    (source / "a/file").write_text("old")
    places = []
    for text in ("old", "new"):
        (source / "a").chmod(0o755)
        (source / "a/file").write_text(text)
        (source / "a").chmod(0o555)
        source.chmod(0o555)
        os.utime(source, (0, len(places)))
        command = [] if os.getuid() else ["setpriv", "--inh-caps=-all", "--bounding-set=-all"]  # as any user
        done = subprocess.run(
            [*command, sys.executable, node.copy_program, source],
            capture_output=True, text=True, check=True, env={**os.environ, "SLURM_JOB_ID": "7"},
        )  # fmt: skip
        places.append(done.stdout.strip())
        assert (Path(places[-1]) / "a/file").read_text() == text, done.stderr
        source.chmod(0o755)
    assert places[0] == places[1] != str(source)


@pytest.mark.slow
def test_modules_of_the_job_are_not_imported(tmp_path: Path) -> None:
    """PYTHONPATH of a job may have a pathlib of an old release."""
    node, source = Node(tmp_path), tmp_path / "source"
    source.write_text("data")
    (tmp_path / "pathlib.py").write_text("raise ImportError")
    environment = {**os.environ, "SLURM_JOB_ID": "7", "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([node.copy_program, source], capture_output=True, text=True, check=False, env=environment)
    assert Path(done.stdout.strip()).read_text() == "data", done.stderr


@pytest.mark.slow
def test_files_with_the_name_of_a_lock_count_and_are_removed(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.data_set("large.lock", size=2_000_000, days=1)
    (node.mine / "file.lock").write_bytes(b"x" * 10)
    os.utime(node.mine / "file.lock", (0, 0))
    (node.mine / "key.lock").touch()
    os.utime(node.mine / "key.lock", (0, 0))
    assert node.clean() == [f"{ME}/file.lock", f"{ME}/large.lock"]
    assert [path.name for path in node.mine.iterdir()] == ["key.lock"]


@pytest.mark.slow
def test_unused_data_and_the_oldest_above_the_limit_are_removed(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.data_set("old", days=31)
    node.data_set("older", size=500_000, days=3)
    node.data_set("newer", size=600_000, days=2)
    node.data_set("small", days=1)
    assert node.clean() == [f"{ME}/old", f"{ME}/older"]
    assert sorted(path.name for path in node.mine.iterdir()) == ["newer", "small"]
    metrics = dict(line.split() for line in (tmp_path / "metrics").read_text().splitlines() if line[0] != "#")
    assert 600_000 < int(metrics["clustergen_data_sets_bytes"]) < 700_000
    assert metrics["clustergen_data_sets_limit_bytes"] == "1000000"


@pytest.mark.slow
def test_data_sets_of_running_jobs_stay(tmp_path: Path) -> None:
    node = Node(tmp_path)
    for name, job in (("noted", "11"), ("by-cgroup", "12"), ("ended", "13"), ("open", ""), ("unused", "")):
        node.data_set(name, days=40, job=job)
    node.process(100, job="11")
    node.process(101, cgroup="slurmstepd.scope/job_12/step_0")
    node.process(102, opened=node.mine / "open/file")
    assert node.clean() == [f"{ME}/ended", f"{ME}/unused"]


@pytest.mark.slow
def test_a_copy_that_is_being_made_stays(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.data_set("key.new", days=40)
    with (node.mine / "key.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert node.clean() == []
    assert node.clean() == [f"{ME}/key.new"]


@pytest.mark.slow
def test_no_link_leads_out_of_the_cache(tmp_path: Path) -> None:
    """Links in place of a user's directory, of a data set, of what is in it, and of the lock."""
    node, outside = Node(tmp_path), tmp_path / "outside"
    (outside / "data").mkdir(parents=True)
    (outside / "data/file").write_bytes(b"x" * 5_000_000)
    (node.cache / "1234").symlink_to(outside)
    (node.mine / "link").symlink_to(outside / "data")
    os.utime(node.mine / "link", (0, 0), follow_symlinks=False)
    inner = node.data_set("inner", days=40)
    (inner / "away").symlink_to(outside)
    os.utime(inner, (0, 0))
    locked = node.data_set("locked", days=40)
    (node.mine / "locked.lock").symlink_to(outside / "data/file")
    assert node.clean() == [f"{ME}/inner", f"{ME}/link"]
    assert (outside / "data/file").stat().st_size == 5_000_000
    assert locked.exists()


@pytest.mark.slow
def test_a_directory_of_another_owner_or_without_its_disk_is_left_alone(tmp_path: Path) -> None:
    node = Node(tmp_path, **{"os.path.ismount(": "os.path.ismount("})
    node.data_set("old", days=40)
    done = subprocess.run([sys.executable, node.clean_program], capture_output=True, text=True, check=False)
    assert "is not mounted" in done.stderr
    node.cache.chmod(0o777)
    done = subprocess.run([sys.executable, node.clean_program], capture_output=True, text=True, check=False)
    assert "nobody else can write" in done.stderr
    assert (node.mine / "old").exists()


@pytest.mark.slow
def test_a_lock_that_cleaning_makes_belongs_to_the_user(tmp_path: Path) -> None:
    node = Node(tmp_path)
    node.data_set("noted", days=40, job="11")
    node.data_set("\udcff\n", days=40)  # a name that cannot be printed
    other = 4242 if os.geteuid() == 0 else os.geteuid()
    os.chown(node.mine, other, -1)
    node.process(100, job="11")
    assert node.clean() == [f"{ME}/\\udcff\\n"]
    assert (node.mine / "noted.lock").stat().st_uid == other
