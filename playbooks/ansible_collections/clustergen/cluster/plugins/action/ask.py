"""Asks one node everything at once: can it be used, and how does it differ from what the tree wants?"""

from __future__ import annotations

import hashlib
import json
import re
import time

from ansible.module_utils.parsing.convert_bool import boolean

from ansible_collections.clustergen.cluster.plugins.plugin_utils import (
    accounting,
    answers,
    effects,
    node_state,
    packages,
)
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking, distrusted
from ansible_collections.clustergen.cluster.plugins.plugin_utils.hosts import counted, folded
from ansible_collections.clustergen.cluster.plugins.plugin_utils.schema import AnswerError
from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree, purposes_of, settled, units_of


class ActionModule(Asking):
    """No arguments: variables of the host and the tree say it all. Sets the fact `clustergen`."""

    _VALID_ARGS = frozenset(("tree",))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        task_vars = settled(self._templar, task_vars)
        tree = Tree(self._task.args["tree"])
        overlay = tree.of_host(task_vars)
        secrets = [
            s for s in task_vars.get("cluster_secrets") or [] if set(s["groups"]) & set(task_vars["group_names"])
        ]
        reboots = boolean(task_vars.get("cluster_reboots", True))
        began = time.time()
        query = node_state.query(overlay, task_vars, [s["path"] for s in secrets])
        state = self.ask("node_state", query, task_vars)
        if "differs" not in state:
            return dict(result, **state)
        if wrong := list(node_state.unfit(state, task_vars, began)):
            return dict(result, failed=True, msg="; ".join(wrong))
        files = {file["target"]: file for file in overlay}
        try:
            before = answers.old_files(state["differs"])
            contents = _slurm_contents(tree, files, state, before)
            accounts = accounting.comparison(state, query["commands"])
            units, without = units_of(task_vars)
            verdict = self._verdict(task_vars, tree, files, state, before, contents, units, reboots)
        except AnswerError as err:
            return dict(result, **distrusted(err))
        purposes = purposes_of(task_vars)
        running = [unit for unit in units if unit not in state["units"]]
        in_use = packages.replaced(purposes, state["packages"], [*state["modules"], *running])
        for effect in dict.fromkeys(effect for each in in_use.values() for effect in each):
            verdict.replace(effect, reboots)
        waiting = packages.waiting(in_use, reboots)
        booting = dict(_mounts_of_modules(tree, files, packages.modules_of(waiting)))
        verdict.later = [effect for effect in verdict.later if effect.removeprefix("remount:") not in booting]
        verdict.stop(packages.stopped(state["started"], without))
        idle_mounts = {unit: name for unit, name in booting.items() if unit in state["units"]}
        mounts = {**dict(_waiting_mounts(tree, files, state["units"], verdict.later)), **idle_mounts}
        checks = re.compile(rf".*/[0-9]+-mount-({'|'.join(map(re.escape, mounts.values()))})([.]conf)?")
        verdict.withheld += [d["target"] for d in state["differs"] if mounts and checks.fullmatch(d["target"])]
        if (refusal := _window(verdict, task_vars) or _hides(state, task_vars)) and not self._task.check_mode:
            return dict(result, failed=True, msg=refusal)
        replaced = list(_replaced(secrets, state["secrets"], task_vars.get("secrets_given") or {}))
        for secret in replaced:
            verdict.add(secret.get("effect", "none"))
        if accounts["differs"]:
            verdict.add("load-accounts")
        # Others are resumed by a run that includes them.
        state["drained"] = [name for name in state["drained"] if name in task_vars["ansible_play_hosts_all"]]
        behind = list(_behind(state, replaced, verdict.stopped, reboots, accounts["differs"]))
        names = {name for purpose in waiting for name in purposes[purpose]}
        fact = {
            "behind": bool(behind),
            "unrecorded": state["unrecorded"],
            **_of_files(state, verdict),
            **_of_effects(verdict),
            "clients": _clients(verdict, task_vars),
            "drained": state["drained"],
            "elsewhere": self._elsewhere(task_vars, contents),
            "empties": self._empties(task_vars, contents),
            "vacates": self._empties(task_vars, contents, ("vacate",)),
            "units": units,
            "without": without,
            **_of_node(state),
            "packages": [name for name in state["packages"] if name not in names],
            "waiting": waiting,
            "replaces": waiting if "reboot" in verdict.later else [],
            "absent": [
                unit
                for unit, answer in state["units"].items()
                if unit in mounts or (waiting and answer["load"] == "not-found")
            ],
            "booting": list(booting),
            "secrets": _fingerprints(secrets, state["secrets"]),
            "replaced_secrets": [secret["name"] for secret in replaced],
        }
        result.update(
            changed=bool(behind) and self._task.check_mode,
            ansible_facts={"clustergen": fact},
            msg="; ".join(
                [(refusal or _summary(behind, verdict)) if behind else "up to date", *_remarks(state, accounts)]
            ),
        )
        if self._task.diff or self._task.check_mode:
            result["diff"] = [*_diff(tree, files, state, before), *_database_diff(accounts["differs"])]
        return result

    def _verdict(self, task_vars, tree, files, state, before, contents, units, reboots):
        """The effects of all that differs."""
        from clustergen.diff.windows import effect_inside, renamed
        from clustergen.render.effects import read

        inside = {}
        for target, old in before.items():
            if old is not None:
                sides = _text(old), _text(tree.content(files[target]["path"]))
                inside[target] = str(effect_inside(target, read(files[target]["effect"]), *sides))
        earlier = {
            target: _text(answers.unpacked(text, answers.MOST_OF_UNIT)) for target, text in state["mounts"].items()
        }
        added = {d["target"] for d in state["differs"] if not d["there"] and d["target"].endswith(".mount")}
        for target, _ in renamed(earlier, {target: _text(tree.content(files[target]["path"])) for target in added}):
            inside[target] = state["effects_of"].get(target, "none").replace("remount:", "window:")
        return effects.judge(
            task_vars["inventory_hostname"],
            {"all", *task_vars["group_names"]},
            task_vars.get("slurm_release"),
            files,
            state,
            contents,
            units,
            next(iter(task_vars.get("slurm_controllers") or []), None),
            reboots,
            inside,
            {group for group, hosts in task_vars["groups"].items() if hosts and group.startswith("mount_")},
        )

    def _elsewhere(self, task_vars, contents):
        """Effects of the changes here on nodes that get their configuration from this controller."""
        controllers = task_vars.get("slurm_controllers") or []
        if not task_vars.get("slurm_configless") or task_vars["inventory_hostname"] not in controllers[:1]:
            return {}
        return effects.elsewhere(task_vars["groups"].get("slurm_compute", ()), task_vars.get("slurm_release"), contents)

    def _empties(self, task_vars, contents, kinds=effects.DRAINING):
        """Nodes that have to be without jobs when this controller reads its new files, whether they are of this run or not."""
        if task_vars["inventory_hostname"] not in (task_vars.get("slurm_controllers") or []):
            return []
        return effects.emptied_by(
            task_vars["groups"].get("slurm_compute", ()), task_vars.get("slurm_release"), contents, kinds
        )


def _text(content):
    return content.decode("utf-8", "replace")


def _window(verdict, task_vars):
    """Why a host must not be changed outside of a maintenance window; empty where it may."""
    stated = task_vars.get("cluster_window") or []
    missing = [unit for unit, runs in verdict.windows.items() if runs and unit not in stated]
    if not missing:
        return ""
    return (
        f"{', '.join(missing)}: servers or versions change, so nodes cannot take turns. Nothing was changed on this node. Drain all clients, "
        f"follow the manual steps of clustergen diff, and state the window: -e '{{\"cluster_window\": {json.dumps(missing)}}}'"
    )


def _hides(state, task_vars):
    """Why a new mount must not be made; empty where it may. One that was there before is mounted as ever."""
    added = {difference["target"].rpartition("/")[2] for difference in state["differs"] if not difference["there"]}
    units = [unit for unit in state["hiding"] if unit in added - {*(task_vars.get("cluster_mount_over") or [])}]
    if not units:
        return ""
    return (
        f"{', '.join(units)}: the mount point has files, which nobody would see below the file system. Nothing was changed on this node. Move them, "
        f"or mount over them: -e '{{\"cluster_mount_over\": {json.dumps(units)}}}'"
    )


def _waiting_mounts(tree, files, idle, later):
    """Idle mount units that require a unit which restarts when the node is empty → the file system's name."""
    restarted = {effect.partition(":")[2] for effect in later if effects.kind(effect) == "drain"}
    for unit in idle if restarted else ():
        if unit.endswith(".mount") and (file := files.get(f"/etc/systemd/system/{unit}")):
            text = _text(tree.content(file["path"]))
            if restarted.intersection(re.findall(r"^Requires=(\S+)$", text, re.MULTILINE)):
                yield unit, _entry(text)


def _mounts_of_modules(tree, files, modules):
    """Mount units of file systems whose kernel modules are replaced, so that the next boot mounts them → their names."""
    for target, file in files.items() if modules else ():
        if target.startswith("/etc/systemd/system/") and target.endswith(".mount"):
            text = _text(tree.content(file["path"]))
            if set(modules).intersection(re.findall(r"^Type=(\S+)$", text, re.MULTILINE)):
                yield target.rpartition("/")[2], _entry(text)


def _entry(text):
    return re.search(r"^Description=File system (\S+)", text, re.MULTILINE)[1]


def _clients(verdict, task_vars):
    """Nodes that mount what this server offers, where that takes a window."""
    served = [group.removeprefix("serve_") for group in task_vars["group_names"] if group.startswith("serve_")]
    names = [*served, *(re.sub("[-.]", "_", unit) for unit in verdict.windows)] if verdict.windows else []
    groups = task_vars["groups"]
    mounting = {host for name in names for host in groups.get(f"mount_{name}", ())}
    return [host for host in groups.get("slurm_compute", ()) if host in mounting]


def _behind(state, replaced, stopped, reboots, accounts):
    """Differences from the tree, in words: packages, paths, secrets, files, units, effects that are left to do, and the
    accounting database.
    """
    if state["unrecorded"]:
        yield "versions of held packages are not recorded"
    if accounts:
        yield f"{counted(len(accounts), 'setting')} of the accounting database ({accounting.summary(accounts)})"
    absent_secrets = [path for path, exists in state["secrets"].items() if not exists]
    if state["drained"]:
        yield f"{folded(state['drained'])} left drained by an earlier run"
    if state["packages"]:
        yield counted(len(state["packages"]), "package")
    yield from (f"{path} is not there" for path in [*state["paths"], *absent_secrets])
    yield from (f"{secret['path']} is not the given {secret['name']}" for secret in replaced)
    if state["differs"]:
        yield counted(len(state["differs"]), "file")
    if state["leftovers"]:
        yield counted(len(state["leftovers"]), "file") + " of an earlier tree"
    for unit, exists in state["units"].items():
        yield f"{unit} is not {'running' if not exists['active'] else 'enabled'}"
    yield from (f"{unit} is no longer of the tree" for unit in stopped)
    yield from (f"left to do: {effect}" for effect in state["pending"] if reboots or effect != "reboot")


def _of_files(state, verdict):
    content = [d["target"] for d in state["differs"] if "content" in d["what"]]
    return {
        "files": [d["target"] for d in state["differs"]],
        "content": content,
        "boot": effects.boot(content, state["leftovers"], verdict.withheld),
        "leftovers": state["leftovers"],
    }


def _of_effects(verdict):
    names = (
        "effects",
        "guarded",
        "withheld",
        "later",
        "withdrawn",
        "withdrawing",
        "together",
        "windows",
        "refuse",
        "cancels",
        "reasons",
    )
    return {name: getattr(verdict, name) for name in names}


def _of_node(state):
    return {
        "start": sorted(state["units"]),
        "paths": state["paths"],
        "serving": "slurmd.service" in state["running"],
        "controlling": "slurmctld.service" in state["running"],
        "host": state["host"],
        "last_run": state["last_run"],
    }


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


def _summary(behind, verdict):
    listed = ", ".join(behind[:6]) + (f" and {len(behind) - 6} more" if len(behind) > 6 else "")
    takes = [*verdict.effects, *(f"{effect} (drained first)" for effect in verdict.later)]
    return listed + (f"; requires: {', '.join(takes)}" if takes else "")


def _remarks(state, accounts):
    """Words on a node that change nothing."""
    if state["foreign"]:
        yield f"not of the tree, left untouched: {', '.join(state['foreign'])}"
    if state["slipped"]:
        rows = [f"{name} {after or 'none'} instead of {before or 'none'}" for name, after, before in state["slipped"]]
        yield f"held packages changed: {', '.join(rows)}"
    if accounts["failure"]:
        yield f"the accounting database was not compared: {accounts['failure']}"
    if accounts["unlisted"]:
        yield f"not in the manifest, left untouched: {', '.join(accounts['unlisted'])}"


def _database_diff(rows):
    if rows:
        texts = ["".join(f"{row[0]}: {row[side] or 'none'}\n" for row in rows) for side in (1, 2)]
        header = dict.fromkeys(("before_header", "after_header"), "accounting database")
        yield {"before": texts[0], "after": texts[1], **header}


def _slurm_contents(tree, files, state, before):
    """Target → (what is there, what is to be), for Slurm's files; a file that is not there has None."""
    differs = {d["target"]: d for d in state["differs"]}
    contents = {}
    for target, file in files.items():
        if not target.startswith(effects.SLURM_DIRECTORY) or not re.search(r"\.(conf|yaml)$", target):
            continue
        new = _text(tree.content(file["path"]))
        if target not in differs or "content" not in differs[target]["what"]:
            old = new
        else:
            old = _text(before[target]) if before[target] is not None else None
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
            after = _text(tree.content(file["path"]))
            yield {"before": _text(old) if old is not None else "", "after": after, **header}
        for what in ("mode", "owner"):
            if what in difference["what"] and difference["there"]:
                yield {"before": f"{what} {difference['now'].get(what)}\n", "after": f"{what} {file[what]}\n", **header}
    for target in state["leftovers"]:
        yield {"before": "of an earlier tree\n", "after": "", "before_header": target, "after_header": target}
