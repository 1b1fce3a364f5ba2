#!/usr/bin/python
"""Moves all of Slurm's packages of this node to another release, in steps."""

from __future__ import annotations

DOCUMENTATION = r"""
module: slurm_packages
short_description: Moves Slurm's packages to another release
description:
  - Packages that belong to Slurm's source package are moved together, since daemons and plugins of one node have to match.
  - No service is started, stopped or restarted by that.
author: The clustergen developers
options:
  step:
    description:
      - C(offer) adds where they come from and fails if that is not the release asked for.
      - C(download) fetches them, so that C(install) takes seconds.
    choices: [offer, download, install]
    required: true
    type: str
  release:
    description: The release, such as 26.05.
    type: str
    required: true
  suite:
    description: For apt, another suite of the distribution that Slurm's packages are taken from, and nothing else that they do not need.
    type: str
    default: ""
  packages:
    description: What the packages of the new release are called. Those of other names go, if these cannot be beside them; without, names stay.
    type: list
    elements: str
    default: []
  mpi:
    description: What MpiDefault is to be; C(download) fails where the new packages have no such plugin, since every srun would.
    type: str
    default: none
  source:
    description: For apt, a line of sources.list that has them.
    type: str
    default: ""
attributes:
  check_mode: {support: none, description: The playbook ends before this is reached.}
"""
EXAMPLES = r"""
- name: Is it there?
  clustergen.cluster.slurm_packages:
    step: offer
    release: "26.05"
    suite: forky
"""
RETURN = r"""
version:
  description: The version that is offered, or that is installed now.
  returned: success
  type: str
"""

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import held
from ansible_collections.clustergen.cluster.plugins.module_utils.slurm_packages import PackageError, manager

_FIRST = ("slurm-client", "slurm-smd-client", "slurm", "slurm-smd")


def version_of(packages):
    """The version that says which release it is, without the distribution's own number."""
    names = [name for name in _FIRST if name in packages] or sorted(
        name for name in packages if name.startswith("slurm")
    )
    return packages[names[0]].rpartition(":")[2].partition("-")[0] if names else ""


def main():
    module = AnsibleModule(
        argument_spec={
            "step": {"type": "str", "choices": ["offer", "download", "install"], "required": True},
            "release": {"type": "str", "required": True},
            "suite": {"type": "str", "default": ""},
            "source": {"type": "str", "default": ""},
            "mpi": {"type": "str", "default": "none"},
            "packages": {"type": "list", "elements": "str", "default": []},
        },
    )
    asked = module.params
    prefix = asked["release"] + "."
    try:
        packages = manager(module, asked["suite"], asked["source"], asked["packages"])
        earlier = packages.installed()
        before = version_of(earlier)
        if asked["step"] == "offer":
            added = packages.prepare()
            offered = version_of(packages.offered()) or before
            if not (offered + ".").startswith(prefix):
                module.fail_json(
                    msg="no package of Slurm {} is available here, only {}; set its source: -e cluster_slurm_suite=…, "
                    "cluster_slurm_source='deb …' or cluster_slurm_role=…".format(asked["release"], offered or "none")
                )
            module.exit_json(changed=added, version=offered, msg="%s → %s" % (before, offered))
        if asked["step"] == "download":
            packages.download()
            if asked["mpi"] != "none" and packages.lacks("mpi_" + asked["mpi"]):
                module.fail_json(
                    msg="Slurm %s comes without the plugin mpi/%s here, which the tree makes the default: every srun would fail. "
                    "Set MpiDefault in slurm.options, such as none, or take packages that have it"
                    % (asked["release"], asked["mpi"])
                )
            module.exit_json(changed=False, version=before)
        packages.install()
        installed = packages.installed()
        held.renew(module, {*earlier, *installed})
        offered = version_of(installed)
    except PackageError as err:
        module.fail_json(msg=str(err))
    if not (offered + ".").startswith(prefix):
        module.fail_json(msg="Slurm is %s after the installation, and was to be %s" % (offered, asked["release"]))
    module.exit_json(changed=offered != before, version=offered, msg="%s → %s" % (before, offered))


if __name__ == "__main__":
    main()
