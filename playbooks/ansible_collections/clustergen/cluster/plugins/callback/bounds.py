"""Limits the memory that the answer of a node may take on the control host, for all modules of a run."""

from __future__ import annotations

DOCUMENTATION = """
name: bounds
type: notification
short_description: A node that floods the control host fails alone
description:
  - Every process that asks a host over ssh gets a limit of memory. It prints nothing.
  - The modules of this collection have the limit anyway; this is for those of Ansible that its roles use.
"""

from ansible.plugins.callback import CallbackBase

from ansible_collections.clustergen.cluster.plugins.plugin_utils import bounds


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "clustergen.cluster.bounds"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self):
        super().__init__()
        bounds.install()
