"""Paths that daemons write and places of mounts: nothing of the system's, and nothing that a boot empties."""

from __future__ import annotations

import cProfile

import pytest

from clustergen.catalogue.system_paths import mountable, nearest, system_paths
from clustergen.cluster.directories import own_directory
from strategies.findings import TINY, changed, findings

FIELDS = {
    "state": "state_location: {}",
    "spool": "spool_directory: {}",
    "log": "log_files: {{slurmctld: {}}}",
    "pid": "pid_files: {{slurmctld: {}}}",
    "tmpdir": "scripts: {{tmpdir: {}}}",
    "cache": "pyxis: {{enabled: true, cache: {}}}",
    "runtime": "pyxis: {{enabled: true, runtime_path: {}}}",
    "private": "private_tmp: {{path: {}}}",
}
SYSTEM, VOLATILE = "path-of-system", "path-volatile"
MEANT_FOR = {
    # path: what each field makes of it, in the order of FIELDS
    "/tmp": [SYSTEM] * 8,
    "/tmp/x": [VOLATILE] * 8,
    "/var/tmp/x": [VOLATILE] * 8,
    "/dev/shm/x": [VOLATILE] * 8,
    "/run": [SYSTEM] * 8,
    "/run/slurm/x": [VOLATILE, "", VOLATILE, "", "", "", "", ""],
    "/var/run/slurm/x": [VOLATILE, "", VOLATILE, "", "", "", "", ""],
    "/etc/shadow": [SYSTEM] * 8,
    "/etc/slurm/x": [SYSTEM] * 8,
    "/proc/x": [SYSTEM] * 8,
    "/dev/null": [SYSTEM] * 8,
    "/home": [SYSTEM] * 8,
    "/home/": [SYSTEM] * 8,
    "/var/lib/mysql/x": [SYSTEM] * 8,
    "/usr/local/bin/x": [SYSTEM] * 8,
    "/var/spool/cron/x": [SYSTEM] * 8,
    "/lost+found": [SYSTEM] * 8,
    "/data/lost+found/x": [SYSTEM] * 8,
    "/run/lock/x": [VOLATILE] * 8,
    "/var/lock/x": [VOLATILE] * 8,
    "/home/slurm/x": [""] * 8,
    "/var/spool/x": [""] * 8,
    "/srv/x": [""] * 8,
    "/x": [""] * 8,
}


def slurm(fields: str) -> str:
    return changed(TINY, ('{version: "24.11"}', f'{{version: "24.11", {fields}}}'))


@pytest.mark.slow
@pytest.mark.parametrize("path", MEANT_FOR)
def test_each_field_takes_the_paths_that_suit_it(path: str) -> None:
    codes = {}
    for name, text in FIELDS.items():
        results = [item for item in findings(slurm(text.format(path))) if item[0] in (SYSTEM, VOLATILE)]
        assert all(place == path for _, place in results)
        codes[name] = "".join(code for code, _ in results)
    assert list(codes.values()) == MEANT_FOR[path]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/etc/shadow", SYSTEM),
        ("/etc/slack.url", SYSTEM),
        ("/root/slack.url", SYSTEM),
        ("/run/slack.url", VOLATILE),
        ("/tmp/slack.url", VOLATILE),
        ("/etc/prometheus/slack.url", ""),
        ("/var/lib/alerts/slack.url", ""),
    ],
)
def test_a_secret_is_written_to_a_file_of_its_own(path: str, code: str) -> None:
    monitored = TINY.replace("[slurm-controller]", "[slurm-controller, monitoring]")
    text = f"{monitored}monitoring: {{receivers: {{chat: {{slack_url_file: {path}, slack_channel: '#a'}}}}}}\n"
    assert [item for item in findings(text) if item[0] in (SYSTEM, VOLATILE)] == ([(code, path)] if code else [])


def test_the_job_map_is_a_directory_of_its_own() -> None:
    assert (SYSTEM, "/run") in findings(f"{TINY}monitoring: {{dcgm: {{job_map: /run}}}}\n")
    assert findings(f"{TINY}monitoring: {{dcgm: {{job_map: /run/jobs}}}}\n") == findings(TINY)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("StateSaveLocation: /tmp/state", [(VOLATILE, "/tmp/state")]),
        ("SlurmctldLogFile: /etc/passwd", [(SYSTEM, "/etc/passwd")]),
        ("SlurmSchedLogFile: /run/sched.log", [(VOLATILE, "/run/sched.log")]),
        ("StateSaveLocation: //tmp/state", [(VOLATILE, "//tmp/state")]),
        ("StateSaveLocation: /var/spool", []),  # Slurm's default, which the tree does not own
        ("SlurmdLogFile: relative.log", []),
        ("SlurmdSpoolDir: /lost+found", [(SYSTEM, "/lost+found")]),
        ("JobCompLoc: /etc/jobs.log", [(SYSTEM, "/etc/jobs.log")]),
        ("JobCompLoc: /var/log/jobs.log", []),
        ("JobCompLoc: 'http://elastic:9200'", []),
        ("TmpFS: /proc", [(SYSTEM, "/proc")]),
        ("TmpFS: /scratch", []),
        ("BcastParameters: 'Compression=lz4,DestDir=/usr/bin'", [(SYSTEM, "'Compression=lz4,DestDir=/usr/bin'")]),
        ("BcastParameters: DestDir=/tmp", []),
    ],
)
def test_options_are_held_to_the_same(options: str, expected: list[tuple[str, str]]) -> None:
    results = findings(slurm(f"defaults: slurm, options: {{{options}}}"))
    assert [item for item in results if item[0] in (SYSTEM, VOLATILE)] == expected


def codes(text: str) -> list[tuple[str, str]]:
    return [item for item in findings(text) if item[0].startswith("path-")]


PATTERN, OVERLAP, ABSENT, SHARED = "path-pattern", "path-overlap", "path-not-mounted", "path-shared"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("state_location: /srv/%h", [(PATTERN, "/srv/%h")]),
        ("log_files: {slurmctld: /srv/%n.log}", [(PATTERN, "/srv/%n.log")]),
        ("log_files: {slurmd: /srv/%n.log}, spool_directory: /srv/%h", []),
        ("spool_directory: /srv/%u", [(PATTERN, "/srv/%u")]),
        ("scripts: {tmpdir: /srv/%n}", [(PATTERN, "/srv/%n")]),
        ("options: {StateSaveLocation: /srv/%h}, defaults: slurm", [(PATTERN, "/srv/%h")]),
        ("scripts: {tmpdir: /srv/x}, spool_directory: /srv/x", [(OVERLAP, "/srv/x")]),
        ("scripts: {tmpdir: /srv/x}, spool_directory: /srv/x/%n", [(OVERLAP, "/srv/x")]),
        ("scripts: {tmpdir: /srv/x/y}, spool_directory: /srv/x", [(OVERLAP, "/srv/x/y")]),
        ("scripts: {tmpdir: /srv/x/jobs}, spool_directory: /srv/x/%n", []),
        ("scripts: {tmpdir: /srv/jobs}, spool_directory: /%n", []),
        ("scripts: {tmpdir: /srv/x}, spool_directory: /srv/xy", []),
        ("scripts: {tmpdir: /srv}, state_location: /srv/x", [(SYSTEM, "/srv"), (OVERLAP, "/srv")]),
        ("scripts: {tmpdir: /var/lib/slurm/slurmctld}", [(OVERLAP, "/var/lib/slurm/slurmctld")]),
        ("scripts: {tmpdir: /var/lib/slurm/slurmctld/x}", [(OVERLAP, "/var/lib/slurm/slurmctld/x")]),
        ("scripts: {tmpdir: /var/log/slurm/jobs}", []),
        ("scripts: {tmpdir: /srv/x}, log_files: {slurmd: /srv/x/slurmd.log}", [(OVERLAP, "/srv/x")]),
        ("scripts: {tmpdir: /var/lib/enroot/x}", []),
        ("scripts: {tmpdir: /s/jobs}, private_tmp: {directories: [/tmp, /s]}", [(OVERLAP, "/s/jobs")]),
        ("scripts: {tmpdir: /s/jobs}, private_tmp: {path: /s/jobs/tmp}", [(OVERLAP, "/s/jobs")]),
        ("private_tmp: {path: /s, directories: [/tmp, /s/]}", [(OVERLAP, "/s")]),
        ("private_tmp: {directories: [/tmp, /etc]}", [(SYSTEM, "/etc")]),
        ("private_tmp: {directories: [/dev/shm, /var/tmp]}, scripts: {tmpdir: /s}", []),
        ("state_location: /srv/x, spool_directory: /srv/x/d", []),  # on different hosts
    ],
)
def test_paths_that_cannot_be_meant(fields: str, expected: list[tuple[str, str]]) -> None:
    assert codes(slurm(fields)) == expected


def test_all_default_logs_are_kept_out_of_scratch() -> None:
    assert codes(slurm("scripts: {tmpdir: /var/log/slurm}")) == [(OVERLAP, "/var/log/slurm")] * 2
    assert codes(slurm("scripts: {tmpdir: /var/log/slurmd}")) == [(OVERLAP, "/var/log/slurmd")]


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ("log_files: {slurmd: /var/log/slurm/slurmd.log}", "/var/log/slurm/slurmd.log"),
        ("log_files: {slurmctld: /srv/log/c.log, slurmd: /srv/log/%n/d.log}", "/srv/log/%n/d.log"),
        ("pid_files: {slurmctld: /run/slurm/c.pid, slurmd: /run/slurm/d.pid}", "/run/slurm/d.pid"),
        ("spool_directory: /var/log/slurm/spool", "/var/log/slurm/spool"),
        ("options: {SlurmdLogFile: /var/log/slurm/slurmd.log}", "/var/log/slurm/slurmd.log"),
        ("user: root, log_files: {slurmd: /var/log/slurm/slurmd.log}", ""),
        ("log_files: {slurmd: /srv/log/slurmd.log}, pid_files: {slurmd: /run/slurmd/d.pid}", ""),
    ],
)
def test_paths_of_slurmd_are_kept_out_of_slurm_users_directories(fields: str, text: str) -> None:
    both = changed(slurm(fields), ("[slurm-controller]", BOTH))
    assert [finding for finding in codes(both) if finding[0] == "path-of-slurm-user"] == (
        [("path-of-slurm-user", text)] if text else []
    )
    assert "path-of-slurm-user" not in dict(codes(slurm(fields))), "no node runs both"


def test_slurmd_keeps_its_files_out_of_the_state_of_slurmctld_on_one_host() -> None:
    text = changed(slurm("state_location: /srv/x, spool_directory: /srv/x/d"), ("[slurm-controller]", BOTH))
    assert codes(text) == [(OVERLAP, "/srv/x/d")]


BOTH = "[slurm-controller, slurm-compute]"
DISK = "type: local, device: LABEL=A, mount: /data"
FILER = "type: nfs, server: filer, path: /export, mount: /data"


@pytest.mark.parametrize(
    ("fields", "entry", "expected"),
    [
        ("state_location: /data/state", FILER, [(ABSENT, "/data/state")]),
        ("state_location: /data/state", f"{FILER}, clients: [slurm-controller]", []),
        ("state_location: /database", FILER, []),
        ("state_location: /data/state", FILER.replace("filer", "head"), []),
        ("spool_directory: /data/d", FILER, [(SHARED, "/data/d")]),
        ("spool_directory: /data/%n", FILER, []),
        ("spool_directory: /data/d", DISK, []),
        ("private_tmp: {path: /data/d}", DISK, []),
        ("private_tmp: {path: /data/d}", FILER, [(SHARED, "/data/d")]),
        ("private_tmp: {directories: [/tmp, /data]}", FILER, [(OVERLAP, "/data")]),
        (
            "spool_directory: /data/d",
            "type: local, device: LABEL=A, mount: /data, required: false",
            [(ABSENT, "/data/d")],
        ),
        ("spool_directory: /data/d", f"{FILER}, clients: [login]", [(ABSENT, "/data/d")]),
        ("log_files: {slurmd: /data/d.log}", FILER, [(SHARED, "/data/d.log")]),
        ("pyxis: {enabled: true, cache: /data/e}", FILER, [(SHARED, "/data/e")]),
        ("pyxis: {enabled: true, runtime_path: /data/e}", FILER, [(SHARED, "/data/e")]),
        ("pyxis: {enabled: true, cache: /data/e}", DISK, []),
        ("options: {BcastParameters: DestDir=/data/b}", FILER, [(SHARED, "DestDir=/data/b")]),
        ("options: {JobCompLoc: /data/jobs.log}", FILER, [(ABSENT, "/data/jobs.log")]),
        ("log_files: {slurmctld: /data/d.log}", f"{FILER}, clients: [slurm-controller]", []),
    ],
)
def test_paths_below_a_mount_point(fields: str, entry: str, expected: list[tuple[str, str]]) -> None:
    assert codes(f"{slurm(fields)}storage: {{a: {{{entry}}}}}\n") == expected


def test_defaults_suit_their_use() -> None:
    assert findings(slurm("pyxis: {enabled: true}")) == []


ENTRIES = {
    "nfs": "{{type: nfs, server: filer, path: /export, mount: {}}}",
    "local": "{{type: local, device: LABEL=A, mount: {}}}",
}
MOUNTS = {
    # place: whether an NFS file system, and a disk, may be mounted there
    "/var/lib": (False, False),
    "/var/lib/dpkg": (False, False),
    "/var/lib/mysql": (False, True),
    "/var/lib/slurm": (False, False),
    "/var/lib/slurm/slurmctld": (True, True),
    "/var/lib/enroot": (True, True),
    "/var/log": (False, True),
    "/var/log/slurm": (False, True),
    "/var/cache": (False, True),
    "/var/spool": (False, True),
    "/var/spool/slurmctld": (True, True),
    "/tmp": (False, False),
    "/var/tmp": (False, False),
    "/usr/local": (False, False),
    "/usr/local/sbin": (False, False),
    "/usr/local/apps": (True, True),
    "/opt": (False, False),
    "/opt/software": (True, True),
    "/etc/slurm": (False, False),
    "/run/x": (False, False),
    "/home": (True, True),
    "/srv": (True, True),
    "/data": (True, True),
}


@pytest.mark.parametrize("place", MOUNTS)
def test_mount_points_that_are_allowed(place: str) -> None:
    results = []
    for entry in ENTRIES.values():
        diagnostics = [code for code, _ in findings(f"{TINY}storage: {{a: {entry.format(place)}}}\n")]
        results.append("mount-over-system" not in diagnostics)
    assert tuple(results) == MOUNTS[place]


def test_a_pool_is_not_mounted_over_the_system() -> None:
    pool = "{zfs: {layout: stripe, disks: [/dev/disk/by-id/a]}}"
    entry = f"{{type: nfs, server: head, path: /etc, mount: /x, export: {pool}}}"
    text = changed(TINY, ("[slurm-controller]", "[slurm-controller, nfs-server]"))
    assert ("mount-over-system", "/etc") in findings(f"{text}storage: {{a: {entry}}}\n")


def test_a_path_of_many_parts_costs_little() -> None:
    """A value in slurm.conf may be that long; as many directories above it are not looked up."""
    profile = cProfile.Profile()
    profile.enable()
    assert nearest("/a" * 200_000).path == "/"
    assert nearest("/var/lib/mysql" + "/a" * 200_000).path == "/var/lib/mysql"
    profile.disable()
    assert sum(entry.callcount for entry in profile.getstats()) < 1000


def test_the_table_covers_every_path_and_the_tree_owns_none_of_it() -> None:
    assert mountable("/") == "never"
    for path in system_paths():
        assert own_directory(path) is None
    assert own_directory("/var/lib/dpkg/x") is None
    assert own_directory("/var/run/slurm") == "/run/slurm"
