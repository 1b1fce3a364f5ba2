"""slurm.private_tmp: directories that jobs need, paths that overlap, and what the messages tell to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.compile import validate
from strategies.findings import TINY, changed

DISK = "storage: {a: {type: local, device: LABEL=A, mount: /data}}\n"
FILER = "storage: {a: {type: nfs, server: filer, path: /export, mount: /home}}\n"
EMPTY = "jobs would see an empty directory there"
SYSTEM, OTHERS = "which belongs to the operating system", "is a directory that other programs use"


def messages(tmp_path: Path, fields: str, rest: str = "") -> list[str]:
    """`code: text | hint` of every diagnostic."""
    path = tmp_path / "manifest.yaml"
    text = changed(TINY, ('{version: "24.11"}', f'{{version: "24.11", {fields}}}'))
    path.write_text(f"{text}{rest}", encoding="utf-8")
    items = [item for item in validate(path).diagnostics if item.code != "gpus-share-ports"]
    return [f"{item.code}: {item.message} | {item.hint}" for item in items]


@pytest.mark.parametrize(
    ("directory", "reason"),
    [
        ("/usr", f"/usr contains /usr/bin, {SYSTEM}"),
        ("/usr/local", f"/usr/local contains /usr/local/bin, {SYSTEM}"),
        ("/var", f"/var contains /var/backups, {SYSTEM}"),
        ("/var/log", "/var/log contains /var/log/audit, which belongs to another service"),
        ("/var/spool/cron/x", "/var/spool/cron/x is in /var/spool/cron, which belongs to another service"),
        *((place, f"{place} {OTHERS}") for place in ("/opt", "/srv", "/mnt", "/media", "/var/cache", "/run/user")),
        *((place, f"{place} is on no local disk of storage") for place in ("/run/slurm", "/tmpp", "/tmp/x", "/srv/x")),
    ],
)
def test_a_directory_that_jobs_need_is_not_made_private(directory: str, reason: str, tmp_path: Path) -> None:
    (message,) = messages(tmp_path, f"private_tmp: {{directories: [/tmp, {directory}]}}")
    hint = "write /tmp, /var/tmp, /dev/shm, or a directory on a local disk of storage"
    assert message == f"path-of-system: {reason}: {EMPTY} | {hint}"


def test_temporary_directories_and_those_on_a_local_disk_can_be_private(tmp_path: Path) -> None:
    fields = "private_tmp: {directories: [/tmp, /var/tmp/, /dev/shm, /data/tmp]}"
    assert messages(tmp_path, fields, DISK) == []


@pytest.mark.parametrize(
    ("fields", "rest", "expected"),
    [
        (
            "private_tmp: {directories: [/tmp, /data/x]}, scripts: {tmpdir: /data/x/jobs}",
            DISK,
            "path-overlap: jobs cannot see /data/x/jobs, job scratch: /data/x is private to each job"
            " | set slurm.scripts.tmpdir outside /tmp and /data/x, such as /scratch/jobs",
        ),
        (
            "private_tmp: {directories: [/data]}",
            DISK,
            f"path-overlap: storage 'a' is mounted in /data: {EMPTY}"
            " | write /tmp, /var/tmp, /dev/shm, or a directory on a local disk of storage",
        ),
        (
            "private_tmp: {path: /home/jobs}",
            FILER,
            "path-shared: the /tmp of jobs is on 'a', a file system that 4 nodes share, and each needs its own"
            " | use a local path, such as /var/lib/job_container",
        ),
        (
            "private_tmp: {path: /}",
            "",
            "text-malformed: slurm.private_tmp.path cannot be the root directory | write /var/lib/job_container",
        ),
        (
            "private_tmp: {directories: [/]}",
            "",
            "text-malformed: slurm.private_tmp.directories item 1 cannot be the root directory"
            " | write a directory below it",
        ),
        (
            "private_tmp: {directories: []}",
            "",
            "value-out-of-range: slurm.private_tmp.directories must not be empty"
            " | write [/tmp, /dev/shm], or remove slurm.private_tmp",
        ),
    ],
)
def test_the_hint_leads_to_a_path_that_is_accepted(fields: str, rest: str, expected: str, tmp_path: Path) -> None:
    assert messages(tmp_path, fields, rest) == [expected]


def test_one_mistake_is_reported_once(tmp_path: Path) -> None:
    (message,) = messages(tmp_path, "private_tmp: {}, scripts: {tmpdir: /tmp/jobs}")
    assert message.startswith("path-volatile: job scratch would be in /tmp")


def test_a_plugin_that_is_off_hides_nothing(tmp_path: Path) -> None:
    fields = "private_tmp: {directories: [/data/x]}, pyxis: {enabled: false, cache: /data/x/enroot}"
    assert messages(tmp_path, fields, DISK) == []
    (message,) = messages(tmp_path, fields.replace("false", "true"), DISK)
    assert "jobs cannot see /data/x/enroot, the cache of enroot" in message


@pytest.mark.parametrize(
    ("fields", "rest"),
    [
        ("private_tmp: {path: /var/lib/slurm/slurmd}", ""),
        ("private_tmp: {}, spool_directory: /var/lib/job_container", ""),
        ("private_tmp: {path: /srv/d}, spool_directory: /srv/d", ""),
        ("private_tmp: {path: /srv/d/x}, state_location: /srv/d", ""),
        ("private_tmp: {path: /srv/d}, scripts: {tmpdir: /srv/d}", ""),
        ("private_tmp: {path: /srv/d}, scripts: {tmpdir: /srv/d/x}", ""),
        ("private_tmp: {path: /var/log/slurm}, log_files: {slurmdbd: /srv/dbd.log}", ""),
        ("pyxis: {enabled: true, cache: /srv/d}, spool_directory: /srv/d", ""),
        ("pyxis: {enabled: true, cache: /srv/d}, spool_directory: /srv/d/x", ""),
        ("private_tmp: {path: /data/p}", f"{DISK}containers: {{podman: {{storage: /data/p/x}}}}\n"),
        ("configless: true", f"{DISK}containers: {{podman: {{storage: /data/x}}, docker: {{data: /data/x}}}}\n"),
    ],
)
def test_programs_of_a_node_do_not_share_a_directory(fields: str, rest: str, tmp_path: Path) -> None:
    (message,) = messages(tmp_path, fields, rest)
    assert message.startswith("path-overlap: ")


RANGE = "write 1h to 3650d, such as 30d"


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        ("forever", ": 'forever' is not a duration", RANGE),
        ("unlimited", ": unlimited is not a valid duration", RANGE),
        ("100000d", " must be at most 3650d, not 100000d", RANGE),
        ("10", " must be at least 1h, not 10 s", RANGE),
        ("", " must be a duration, but is empty", RANGE),
        ("010", ": 010 has a leading zero, which makes it octal to some readers of YAML", "write 10"),
    ],
)
def test_the_hint_for_a_duration_is_within_its_bounds(value: str, message: str, hint: str, tmp_path: Path) -> None:
    pull = f"ansible: {{pull: {{repository: 'https://a/b.git', max_age: {value}}}}}\n"
    (result,) = messages(tmp_path, "configless: true", pull)
    assert result.partition(": ")[2] == f"ansible.pull.max_age{message} | {hint}"


def test_a_duration_that_may_be_left_out_has_a_unit_in_messages(tmp_path: Path) -> None:
    (result,) = messages(tmp_path, "message_timeout: 1")
    assert result.endswith(": slurm.message_timeout must be at least 5s, not 1 s | write 5s to 100s")
