"""Who may log in to a compute node, as PAM itself decides with the rendered files."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.slurm_trees import cluster
from strategies.trees import lay_out

# What a system with sssd has: local users are let through without sssd being asked, and the stack ends there.
SSSD = """account required pam_unix.so
account sufficient pam_localuser.so
account required pam_permit.so
"""
OTHERS = "".join(f"{step} required pam_permit.so\n" for step in ("auth", "password", "session"))
SCENE = """
for user in alice olga; do useradd --no-create-home "$user"; done
groupadd admins && usermod --append --groups admins olga
for service in common-account password-auth; do cp /run/clustergen/sssd "/etc/pam.d/$service"; done
for service in postlogin common-auth common-password common-session-noninteractive; do
  cp /run/clustergen/others "/etc/pam.d/$service"
done
for user in alice olga root; do pamtester sshd "$user" acct_mgmt >/dev/null 2>&1 && echo "$user comes in"; done
exit 0
"""


@pytest.mark.real
@pytest.mark.parametrize("os", ["debian-13", "rocky-9"])
def test_without_a_job_only_administrators_come_in_even_where_sssd_lets_local_users_through(
    os: str, tmp_path: Path
) -> None:
    root = root_with("pamtester")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    tree = cluster(tmp_path, os=os, host={"admin_group": "admins"})
    node = sandbox.Sandbox(root, files=((lay_out(tree, "c1", tmp_path / "node"), "/"),), hostname="c1")
    notes = {"sssd": SSSD, "others": OTHERS, "scene": SCENE}
    outcome = sandbox.run(node, ["/bin/bash", "/run/clustergen/scene"], timeout=300, notes=notes)
    assert outcome.stdout.split("\n")[:-1] == ["olga comes in", "root comes in"], outcome
