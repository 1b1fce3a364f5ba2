"""Asks one node everything at once: can it be used, and how does it differ from what the tree wants?"""

from __future__ import annotations

import hashlib
import re
import time

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.clustergen.cluster.plugins.plugin_utils import answers, effects
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking, distrusted
from ansible_collections.clustergen.cluster.plugins.plugin_utils.hosts import counted
from ansible_collections.clustergen.cluster.plugins.plugin_utils.schema import AnswerError
from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import (
    Tree,
    packages_of,
    paths_of,
    settled,
    units_of,
)

_MIB_FOR_FILES = 16
_MIB_FOR_PACKAGES = 1024


class ActionModule(Asking):
    """No arguments: variables of the host and the tree say it all. Sets the fact `clustergen`."""

    _VALID_ARGS = frozenset(("tree",))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        task_vars = settled(self._templar, task_vars)
        tree = Tree(self._task.args["tree"])
        overlay = tree.of_host(task_vars)
        units, without = units_of(task_vars)
        secrets = [
            s for s in task_vars.get("cluster_secrets") or [] if set(s["groups"]) & set(task_vars["group_names"])
        ]
        reboots = boolean(task_vars.get("cluster_reboots", True))
        began = time.time()
        state = self.ask(
            "node_state",
            {
                "files": [{key: file[key] for key in ("target", "sha256", "mode", "owner")} for file in overlay],
                "packages": packages_of(task_vars),
                "paths": paths_of(task_vars),
                "units": units,
                "secrets": [s["path"] for s in secrets],
            },
            task_vars,
        )
        if "differs" not in state:
            return dict(result, **state)
        offset = state["clock"] - (began + time.time()) / 2
        if wrong := list(_unfit(state, task_vars, offset)):
            return dict(result, failed=True, msg="; ".join(wrong))
        if unknown := [unit for unit in units if _never(state["units"].get(unit))]:
            return dict(result, failed=True, msg=f"{', '.join(unknown)}: masked on this node")
        files = {file["target"]: file for file in overlay}
        try:
            before = answers.old_files(state["differs"])
            contents = _slurm_contents(tree, files, state, before)
        except AnswerError as err:
            return dict(result, **distrusted(err))
        verdict = effects.judge(
            task_vars["inventory_hostname"],
            {"all", *task_vars["group_names"]},
            task_vars["slurm_release"],
            files,
            state,
            contents,
            units,
            next(iter(task_vars.get("slurm_controllers") or []), None),
            reboots,
            {
                target
                for target in before
                if before[target] is not None and self._remark(tree, files[target], before[target])
            },
        )
        absent_secrets = [path for path, exists in state["secrets"].items() if not exists]
        replaced = list(_replaced(secrets, state["secrets"], task_vars.get("secrets_given") or {}))
        for secret in replaced:
            verdict.add(secret.get("effect", "none"))
        behind = [
            *(counted(len(state["packages"]), "package") for _ in state["packages"][:1]),
            *(f"{path} is not there" for path in [*state["paths"], *absent_secrets]),
            *(f"{secret['path']} is not the given {secret['name']}" for secret in replaced),
            *(counted(len(state["differs"]), "file") for _ in state["differs"][:1]),
            *(counted(len(state["leftovers"]), "file") + " of an earlier tree" for _ in state["leftovers"][:1]),
            *(
                f"{unit} is not {'running' if not exists['active'] else 'enabled'}"
                for unit, exists in state["units"].items()
            ),
            *(f"left to do: {effect}" for effect in state["pending"] if reboots or effect != "reboot"),
        ]
        fact = {
            "behind": bool(behind),
            "files": [d["target"] for d in state["differs"]],
            "content": [d["target"] for d in state["differs"] if "content" in d["what"]],
            "leftovers": state["leftovers"],
            "effects": verdict.effects,
            "withheld": verdict.withheld,
            "later": verdict.later,
            "together": verdict.together,
            "refuse": verdict.refuse,
            "cancels": verdict.cancels,
            "reasons": verdict.reasons,
            "elsewhere": self._elsewhere(task_vars, contents),
            "empties": self._empties(task_vars, contents),
            "vacates": self._empties(task_vars, contents, ("vacate",)),
            "units": units,
            "without": without,
            "start": sorted(state["units"]),
            "packages": state["packages"],
            "paths": state["paths"],
            "secrets": _fingerprints(secrets, state["secrets"]),
            "replaced_secrets": [secret["name"] for secret in replaced],
            "serving": "slurmd.service" in state["running"],
            "controlling": "slurmctld.service" in state["running"],
            "host": state["host"],
            "last_run": state["last_run"],
        }
        result.update(
            changed=bool(behind) and self._task.check_mode,
            ansible_facts={"clustergen": fact},
            msg=_summary(behind, verdict) if behind else "up to date",
        )
        if self._task.diff or self._task.check_mode:
            result["diff"] = list(_diff(tree, files, state, before))
        return result

    def _remark(self, tree, file, before):
        """Whether only comments of a file differ."""
        from clustergen.diff.comments import same_but_for_comments

        return same_but_for_comments(
            before.decode("utf-8", "replace"), tree.content(file["path"]).decode("utf-8", "replace")
        )

    def _elsewhere(self, task_vars, contents):
        """What changes here take on nodes that get their configuration from this controller."""
        controllers = task_vars.get("slurm_controllers") or []
        if not task_vars.get("slurm_configless") or task_vars["inventory_hostname"] not in controllers[:1]:
            return {}
        return effects.elsewhere(task_vars["groups"].get("slurm_compute", ()), task_vars["slurm_release"], contents)

    def _empties(self, task_vars, contents, kinds=effects.DRAINING):
        """Nodes that have to be without jobs when this controller reads its new files, whether they are of this run or not."""
        if task_vars["inventory_hostname"] not in (task_vars.get("slurm_controllers") or []):
            return []
        return effects.emptied_by(
            task_vars["groups"].get("slurm_compute", ()), task_vars["slurm_release"], contents, kinds
        )


def _fingerprints(secrets, state):
    """Path → what tells one secret from another, None where it is not there. A password has none: it could be guessed from it."""
    made = {s["path"] for s in secrets if s["origin"] == "made"}
    return {path: digest if path in made or not digest else "there" for path, digest in state.items()}


def _replaced(secrets, state, secrets_sent):
    """Secrets of the site that are there, and other ones than it gives now."""
    for secret in secrets:
        if secret["origin"] == "given" and secret["name"] in secrets_sent and state[secret["path"]]:
            text = secret.get("form", "{}").format(secrets_sent[secret["name"]])
            if hashlib.sha256(text.encode()).hexdigest() != state[secret["path"]]:
                yield secret


def _never(unit):
    return unit is not None and unit["load"] == "masked"


def _summary(behind, verdict):
    listed = ", ".join(behind[:6]) + (f" and {len(behind) - 6} more" if len(behind) > 6 else "")
    takes = [*verdict.effects, *(f"{effect} (drained first)" for effect in verdict.later)]
    return listed + (f"; requires: {', '.join(takes)}" if takes else "")


def _unfit(state, task_vars, offset):
    """Why this node cannot be applied to; all of it."""
    if not state["root"]:
        yield f"{task_vars.get('ansible_user', 'the user')} is not root on this node: set ansible.become in the manifest"
    if not state["systemd"]:
        yield "systemd does not run on this node"
    machine = task_vars.get("os_facts", {}).get("architecture", "")
    systems = [name[3:] for name in task_vars["group_names"] if name.startswith("os_")]
    os_facts = state["os"]
    if systems and boolean(task_vars.get("cluster_os_check", True)):
        if machine and os_facts["machine"] != machine:
            yield f"its architecture is {os_facts['machine']} but the manifest states {machine}: set arch of its node type"
        systems[0] = systems[0][: -len(machine) - 1] if machine and systems[0].endswith("_" + machine) else systems[0]
        family, _, version = systems[0].partition("_")
        installed = os_facts["version"] if "_" in version else os_facts["version"].partition(".")[0]
        if os_facts["id"] not in (family, {"rocky": "almalinux"}.get(family)) or installed != version.replace("_", "."):
            yield f"runs {os_facts['id']} {os_facts['version'] or os_facts['codename']} but the manifest states {systems[0].replace('_', ' ', 1).replace('_', '.')}"
    name = task_vars["inventory_hostname"]
    if boolean(task_vars.get("cluster_name_check", True)) and state["host"].partition(".")[0] != name:
        yield f"its hostname is {state['host']}, not {name}: hostnamectl set-hostname {name}"
    tolerance = float(task_vars.get("cluster_clock_tolerance", 300))
    if abs(offset) > tolerance:
        yield f"its clock is {abs(offset):.0f} s {'ahead' if offset > 0 else 'behind'}; munge and TLS stop working at {tolerance:.0f} s"
    yield from (f"{path} is mounted read-only" for path in state["read_only"])
    if state["unwritable"]:
        yield f"/var/lib/clustergen cannot be written: {state['unwritable']}"
    needed = _MIB_FOR_PACKAGES if state["packages"] else _MIB_FOR_FILES
    for path, free in state["free"].items():
        least = needed if path in ("/", "/var") else _MIB_FOR_FILES
        if free["mib"] < least:
            yield f"{path} has {free['mib']} MiB free, {least} are needed"
        elif free["inodes"] is not None and free["inodes"] < 1000:
            yield f"{path} has {free['inodes']} inodes free"


def _slurm_contents(tree, files, state, before):
    """Target → (what is there, what is to be), for Slurm's files; a file that is not there has None."""
    differs = {d["target"]: d for d in state["differs"]}
    contents = {}
    for target, file in files.items():
        if not target.startswith(effects.SLURM_FOLDER) or not re.search(r"\.(conf|yaml)$", target):
            continue
        new = tree.content(file["path"]).decode("utf-8", "replace")
        if target not in differs or "content" not in differs[target]["what"]:
            old = new
        else:
            old = before[target].decode("utf-8", "replace") if before[target] is not None else None
            if old is not None:
                answers.bounded(target, old, new)
        contents[target] = (old, new)
    return contents


def _diff(tree, files, state, before):
    for difference in state["differs"]:
        file = files[difference["target"]]
        header = {"before_header": difference["target"], "after_header": difference["target"]}
        if "content" in difference["what"]:
            old = before[difference["target"]]
            after = tree.content(file["path"]).decode("utf-8", "replace")
            yield {"before": old.decode("utf-8", "replace") if old is not None else "", "after": after, **header}
        for what in ("mode", "owner"):
            if what in difference["what"] and difference["there"]:
                yield {"before": f"{what} {difference['now'].get(what)}\n", "after": f"{what} {file[what]}\n", **header}
    for target in state["leftovers"]:
        yield {"before": "of an earlier tree\n", "after": "", "before_header": target, "after_header": target}
