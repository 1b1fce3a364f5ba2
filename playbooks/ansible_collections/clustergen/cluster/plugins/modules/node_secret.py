#!/usr/bin/python
"""Installs one key or password on this node, or generates a key once."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_secret
short_description: Installs a secret where its owner's account can write, or generates a key once
description:
  - The file is complete and has its owner and mode before it has its name, and is never open to other accounts.
  - No link is followed that the owner of the directory could have placed; what belongs to root elsewhere is neither written nor read.
author: The clustergen developers
options:
  path:
    description: The file. Missing directories are created with mode 0755.
    type: str
    required: true
  owner:
    description: The account that gets the file, with its group.
    type: str
    required: true
  mode:
    description: The mode, in octal digits.
    type: str
    required: true
  content:
    description: What the file is to hold, in base64. Without, a key of 256 random bytes is generated, unless the file has content already.
    type: str
attributes:
  check_mode: {support: full, description: Reports whether the file would change.}
"""
EXAMPLES = r"""
- name: Install the key of MUNGE
  clustergen.cluster.node_secret:
    path: /etc/munge/munge.key
    owner: munge
    mode: "0400"
    content: "{{ key }}"
  no_log: true
"""
RETURN = r"""
content:
  description: The key in base64, where no content was given and the file has one.
  returned: success
  type: str
"""

import base64
import binascii
import os
import pwd

from ansible.module_utils.basic import AnsibleModule

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files, safe_write

MOST = 1 << 20  # bytes of a secret


def current(path):
    """Content, user and mode of the file that is there; None where there is none."""
    try:
        descriptor = safe_write.open_file(path)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        return file.read(MOST), status.st_uid, status.st_mode & 0o7777


def installed(module, content, ids, mode):
    """True if the file differed. The content of a link or a pipe in its place is not read; it is replaced."""
    path = module.params["path"]
    try:
        if current(path) == (content, ids[0], mode):
            return False
    except OSError:
        pass
    if not module.check_mode:
        label = None
        if module.selinux_enabled():

            def label(new):
                module.set_context_if_different(new, module.selinux_default_context(path), False)

        os.close(safe_write.open_directory(os.path.dirname(path), create=True))
        safe_write.replace(path, content, mode, ids, sync=True, label=label)
    return True


def main():
    module = AnsibleModule(
        argument_spec={
            "path": {"type": "str", "required": True},
            "owner": {"type": "str", "required": True},
            "mode": {"type": "str", "required": True},
            "content": {"type": "str", "no_log": True},
        },
        supports_check_mode=True,
    )
    path, owner, mode = module.params["path"], module.params["owner"], int(module.params["mode"], 8)
    try:
        entry = pwd.getpwnam(owner)
        ids = (entry.pw_uid, entry.pw_gid)
    except KeyError:
        ids = None
    try:
        if module.params["content"] is not None:
            content = base64.b64decode(module.params["content"], validate=True)
            if ids is None:
                module.fail_json(msg="no account %s for %s: install its package first" % (owner, path))
            if not content:
                module.fail_json(msg="the secret for %s is empty" % path)
            module.exit_json(changed=installed(module, content, ids, mode))
        before = current(path)
        if before and before[0]:
            module.exit_json(changed=False, content=base64.b64encode(before[0]).decode("ascii"))
        key = os.urandom(256)
        # The account comes with its package, perhaps later than the key; then the key is root's until it is installed.
        installed(module, key, ids or (0, 0), mode)
        returned = {} if module.check_mode else {"content": base64.b64encode(key).decode("ascii")}
        module.exit_json(changed=True, **returned)
    except binascii.Error:
        module.fail_json(msg="the secret for %s is not valid base64" % path)
    except OSError as err:
        module.fail_json(msg="%s: %s" % (path, safe_files.reason_of(err)))


if __name__ == "__main__":
    main()
