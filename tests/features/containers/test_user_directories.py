"""Directories of users' containers: root creates them, and no user can create or keep another's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clustergen.render.tree import Tree
from clustergen.verify import sandbox
from clustergen.verify.sandbox import Outcome
from clustergen.verify.slurm_roots import root_with
from strategies.slurm_trees import cluster, roles
from strategies.trees import COMPUTE, lay_out, node_files

SCRIPT = "/etc/slurm/prolog.d/45-user-directories"
PROGRAM = "/usr/local/sbin/clustergen-user-directories"
LOGIN = "/etc/systemd/system/user-runtime-dir@.service.d/50-clustergen.conf"
EVERYTHING: dict[str, Any] = {
    "slurm": {"pyxis": {"enabled": True, "cache": "/raid/enroot"}},
    "containers": {"podman": {"storage": "/raid/podman"}, "oci_jobs": "crun"},
    "nodes": [roles("slurm-controller"), COMPUTE, roles("login", name="login1", address="10.0.0.2")],
}
ALICE, MALLORY = 1000, 1001
PLACES = (
    *("/run/enroot/user-1000", "/raid/enroot/cache/user-1000", "/raid/enroot/data/user-1000"),
    *("/run/slurm-oci/1000", "/raid/podman/alice"),
)
SQUAT = (
    *("mkdir -m 777 {0}; touch {0}/evil", "ln -s /etc {0}", "touch {0}"),
    *("ln -s /nowhere {0}", "mkfifo {0}"),
)
"""Objects that an attacker makes at each place."""
# As systemd-tmpfiles left it on nodes of trees before this one: all users write to the directories above.
SCENE = """
printf 'alice:x:1000:1000::/:/bin/sh\\nmallory:x:1001:1001::/:/bin/sh\\n' >>/etc/passwd
mkdir -m 1777 /raid
for at in /run/enroot /raid/enroot/cache /raid/enroot/data /run/slurm-oci /raid/podman; do
  mkdir -p "$at"; chmod 1777 "$at"
done
as() { setpriv --reuid "$1" --regid "$1" --clear-groups bash -c "umask 0; $2"; }
prolog() { SLURM_JOB_UID=$1 /etc/slurm/prolog.d/45-user-directories; echo "rc $?"; }
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    return cluster(tmp_path_factory.mktemp("users"), **EVERYTHING)


def run(tree: Tree, directory: Path, scene: str, host: str = "c1", program: str = "pgrep") -> Outcome:
    root = root_with(program)
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    box = sandbox.Sandbox(root, files=((lay_out(tree, host, directory / "node"), "/"),), hostname=host)
    return sandbox.run(box, ["/bin/bash", "-c", SCENE + scene], timeout=300)


@pytest.mark.real
def test_a_directory_of_another_user_is_renamed_and_the_job_starts(tree: Tree, tmp_path: Path) -> None:
    squat = "\n".join(f'as {MALLORY} "{command.format(place)}"' for place, command in zip(PLACES, SQUAT, strict=True))
    scene = f"""{squat}
prolog {ALICE}
stat -c %u:%g:%a:%F {" ".join(PLACES)}
for at in {" ".join(PLACES)}; do
  ls -A $at; as {MALLORY} "! mv $at $at.stolen && ! mkdir ${{at%/*}}/more && ! ls $at"; echo kept $?
done 2>/dev/null
stat -c %u:%a /etc; echo again; prolog {ALICE}"""
    lines = run(tree, tmp_path, scene).stdout.splitlines()
    aside = [line for line in lines if "renamed to" in line]
    assert [line.split(" is not")[0] for line in aside] == list(PLACES)
    assert all("(1001:" in line for line in aside)
    rest = [line for line in lines if line not in aside]
    assert rest == ["rc 0", *["1000:1000:700:directory"] * 5, *["kept 0"] * 5, "0:755", "again", "rc 0"]


@pytest.mark.real
def test_nothing_that_a_user_does_fails_the_prolog(tree: Tree, tmp_path: Path) -> None:
    """A directory above that is another user's or a link, a full disk, a user that the node does not know."""
    scene = f"""
rm -r /raid/podman /raid/enroot; as {MALLORY} "mkdir -m 777 /raid/podman; ln -s /root /raid/enroot"
prolog {ALICE}; ls -A /raid/podman; stat -c %a /root; ls -A /root/data
rm -r /raid/podman /raid/enroot /run/enroot; mount -t tmpfs -o nr_inodes=4,mode=755 full /raid; touch /raid/{{1,2,3}}
prolog {ALICE}; prolog 4711"""
    done = run(tree, tmp_path, scene)
    assert [line for line in done.stdout.splitlines() if line.startswith("rc")] == ["rc 0"] * 3
    assert "podman is not a directory of root (1001:directory): user 1000 gets none in /raid/podman" in done.stdout
    assert "enroot is not a directory of root (1001:symbolic link): user 1000 gets none in" in done.stdout
    assert "No space left" in done.stderr
    assert "'4711': no such user" in done.stderr


@pytest.mark.real
def test_users_of_containers_cannot_fill_run(tree: Tree, tmp_path: Path) -> None:
    """Each directory in /run below which users can write has a tmpfs of its own, unless it is in use."""
    places = ("/run/enroot", "/run/slurm-oci", "/run/pyxis")
    scene = f"""chmod 0755 {places[0]} {places[1]}; mkdir {places[2]}
prolog {ALICE} & prolog {MALLORY}; wait; prolog {ALICE}
for at in {" ".join(places)}; do echo $at $(grep -c " $at " /proc/self/mountinfo) $(stat -c %u:%a $at); done
before=$(stat -f -c %f:%d /run)
as {ALICE} "head -c 80M /dev/zero >/run/enroot/user-1000/file"; as {ALICE} "touch /run/slurm-oci/1000/{{1..20000}}"
[ $before = $(stat -f -c %f:%d /run) ]; echo $?
umount /run/enroot; mkdir /run/enroot/user-7; prolog {ALICE}; grep -c ' /run/enroot ' /proc/self/mountinfo"""
    done = run(tree, tmp_path, scene)
    assert done.stdout.splitlines() == [*["rc 0"] * 3, *(f"{place} 1 0:755" for place in places), "0", "rc 0", "0"]
    assert "No space left on device" in done.stderr


@pytest.mark.real
def test_jobs_of_one_user_that_start_together_share_a_directory(tree: Tree, tmp_path: Path) -> None:
    scene = (
        f"for n in 1 2 3 4 5 6; do prolog {ALICE} & done; wait; stat -c %u:%a {' '.join(PLACES)}; ls -A /raid/podman"
    )
    lines = run(tree, tmp_path, scene).stdout.splitlines()
    assert lines == [*["rc 0"] * 6, *["1000:700"] * 5, "alice"]


@pytest.mark.real
@pytest.mark.parametrize("host", ["c1", "login1"])
def test_podman_stores_nothing_in_another_users_directory(host: str, tree: Tree, tmp_path: Path) -> None:
    """In a job and at a login: real Podman creates its store."""
    start = f"prolog {ALICE}" if host == "c1" else f"{PROGRAM} {ALICE}"
    scene = f"""
as {MALLORY} "mkdir -m 777 /raid/podman/alice"
{start}
mkdir -m 700 /run/alice; chown 1000 /run/alice
export USER=alice HOME=/run/alice XDG_RUNTIME_DIR=/run/alice
export _CONTAINERS_USERNS_CONFIGURED=done _CONTAINERS_ROOTLESS_UID=1000
export STORAGE_DRIVER=vfs CONTAINERS_CONF_OVERRIDE=/run/locks.conf
printf '[engine]\\nlock_type="file"\\n' >/run/locks.conf
setpriv --reuid 1000 --regid 1000 --clear-groups podman images --quiet; echo images $?
stat -c %u:%a /raid/podman/alice; stat -c %u /raid/podman/alice/storage.lock"""
    done = run(tree, tmp_path, scene, host, "podman")
    assert done.stdout.splitlines()[-3:] == ["images 0", "1000:700", "1000"], done.stderr


def test_a_login_without_a_job_gets_the_directory_of_podman_alone(tree: Tree) -> None:
    files = node_files(tree, "login1")
    assert SCRIPT not in files
    assert f"\nExecStart=-{PROGRAM} %i\n" in files[LOGIN].content.decode()
    values = files["/etc/clustergen/login-directories.sh"].content.decode()
    assert values.endswith("\nplaces=(\n  /raid/podman USER\n)\nmounts=()\n")
