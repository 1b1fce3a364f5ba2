"""The template that moves data, with real rsync: interrupted, disconnected, and compared at its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.job_templates import LIBRARY, files_of, guided
from strategies.trees import text_of, tree_of

PRELUDE = r"""
export SLURM_NNODES=1 SLURM_JOB_ID=7 HOME=/root RETRY_SECONDS=0
mkdir -p /tmp/source/inner
head -c 1500000 /dev/urandom >/tmp/source/large
echo small >/tmp/source/inner/small
ln /tmp/source/inner/small /tmp/source/again
ln -s inner/small /tmp/source/link
move() { bash /job/transfer.sh "$@"; }
same() { diff -r --no-dereference /tmp/source /tmp/target && echo same; }
"""
# name → script, and what its output has
CASES = {
    "copies": (
        """
move /tmp/source/ /tmp/target/; same
[ /tmp/target/again -ef /tmp/target/inner/small ] && echo linked
move /tmp/source/ /tmp/target/ | grep 'Literal data: 0'
""",
        ("checksums of all files are the same", "\nsame\n", "\nlinked\n", "Literal data: 0"),
    ),
    "interrupted": (
        """
move --bwlimit=200 /tmp/source/ /tmp/target/ & killall() { kill $(ps -o pid= -C rsync); }
until [ "$(find /tmp/target -name '.large.*' -size +0)" ]; do sleep 0.05; done; killall; wait
[ -s /tmp/target/.rsync-partial/large ] && echo partial
move /tmp/source/ /tmp/target/ | grep Matched; same
""",
        ("\npartial\n", "Matched data: ", "\nsame\n"),
    ),
    "disconnected": (
        """
cat >/tmp/rsh <<'END'
#!/bin/bash
shift
echo connection >>/tmp/connections
[ $(wc -l </tmp/connections) -gt 1 ] || exec timeout -s KILL 0.5 "$@"
exec "$@"
END
chmod 755 /tmp/rsh
move --bwlimit=1000 --rsh=/tmp/rsh host:/tmp/source/ /tmp/target/; same
cat /tmp/connections
""",
        ("attempt 1: the connection was lost", "\nsame\n", "connection\nconnection"),
    ),
    "corrupted": (
        """
mkdir /tmp/bin
cat >/tmp/bin/rsync <<'END'
#!/bin/bash
/usr/bin/rsync "$@" || exit
touch -r /tmp/target/inner/small /tmp/time
echo smell >/tmp/target/inner/small; touch -r /tmp/time /tmp/target/inner/small
END
chmod 755 /tmp/bin/rsync
PATH=/tmp/bin:$PATH move /tmp/source/ /tmp/target/ || echo status $?
""",
        ("differs in the target:\nagain\n", "status 1"),
    ),
    "refused": (
        "move /tmp/nothing/ /tmp/target/; echo status $?; move /tmp/source; echo status $?",
        ("status 23", "status 2"),
    ),
}


@pytest.mark.real
@pytest.mark.parametrize("name", CASES)
def test_data_arrive_whole_or_the_job_fails(name: str, tmp_path: Path) -> None:
    root = root_with("rsync")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    data = guided()
    (tmp_path / "manifests").mkdir()
    script = files_of(data, tmp_path / "manifests")["jobs/transfer.sh"]
    (tmp_path / "job").mkdir()
    (tmp_path / "job/library.sh").write_text(text_of(tree_of(data, tmp_path / "manifests"), "login1", LIBRARY))
    (tmp_path / "job/transfer.sh").write_text(script.replace(LIBRARY, "/job/library.sh"))
    box = sandbox.Sandbox(root, files=((tmp_path / "job", "/job"),), is_one_user=True)
    commands, expected = CASES[name]
    done = sandbox.run(box, ["/bin/bash", "-c", f"exec 2>&1\n{PRELUDE}{commands}"], timeout=300)
    for text in expected:
        assert text in f"\n{done.stdout}", done


def test_the_job_requests_no_gpu_and_the_guide_names_the_cluster_s_own_places(tmp_path: Path) -> None:
    files = files_of(guided(), tmp_path)
    script, guide = files["jobs/transfer.sh"], files["guide.md"]
    assert "gpus-per-node" not in script
    assert {"#SBATCH --mem=8192M", "#SBATCH --cpus-per-task=4", "#SBATCH --requeue"} <= {*script.splitlines()}
    assert "data/ login1.cluster.local:/home/data/" in guide
