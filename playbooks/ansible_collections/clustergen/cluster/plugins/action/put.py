"""Transfers what differs to one node, and only that; the node tries it out, puts it in place and carries out what it takes."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.module_utils.overlay import pack
from ansible_collections.clustergen.cluster.plugins.plugin_utils.asking import Asking
from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import EMPTYING, SLURM_KINDS, kind
from ansible_collections.clustergen.cluster.plugins.plugin_utils.hosts import counted
from ansible_collections.clustergen.cluster.plugins.plugin_utils.tree import Tree, settled

_READ_BY_PROGRAMS = ("/etc/clustergen/", "/usr/local/lib/clustergen/")


class ActionModule(Asking):
    """`phase`: users (only accounts and directories), trial (nothing is changed), live, waiting (notes that a reboot is left to
    do, before packages are replaced), emptied (what waited for an empty node), logins (what shuts users out without slurmd), or
    last (what servers offer to nobody any more).
    """

    _VALID_ARGS = frozenset(("tree", "phase"))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        task_vars = settled(self._templar, task_vars)
        phase = self._task.args["phase"]
        tree = Tree(self._task.args["tree"])
        fact = task_vars["ansible_facts"]["clustergen"]
        files = {file["target"]: file for file in tree.of_host(task_vars)}
        withheld = set(fact["withheld"])
        guarded = set(fact["guarded"])
        chosen = [target for target in fact["files"] if (target in withheld) == (phase == "emptied")]
        chosen = [target for target in chosen if (target in guarded) == (phase == "logins")]
        if phase == "users":
            chosen = [target for target in chosen if files[target]["effect"] == "create" and "/sysusers.d/" in target]
        # A job or timer that starts meanwhile runs an old or a new program: either finds what it reads.
        chosen.sort(key=lambda target: not target.startswith(_READ_BY_PROGRAMS))
        removed = [target for target in fact["leftovers"] if _removes(phase, target, fact)]
        if phase == "trial":
            chosen = list(fact["files"])
            removed = list(fact["leftovers"])
        if phase == "waiting":
            chosen = removed = []
        if phase == "last":
            chosen = []
        effects = self._effects(phase, fact, task_vars)
        if phase == "trial" and not (chosen or removed):
            return dict(result, changed=False, msg="no files to test")
        if phase == "users" and not (chosen or effects[1:]):
            return dict(result, changed=False, msg="no new accounts")
        record = {
            t: {"sha256": f["sha256"], "effect": f["effect"]}
            for t, f in files.items()
            if (t not in withheld or phase in ("emptied", "last")) and (t not in guarded or phase == "logins")
        }
        done = self.ask(
            "node_put",
            {
                "tree": tree.name,
                "files": [
                    {
                        **{key: files[target][key] for key in ("target", "sha256", "mode", "owner", "effect")},
                        "content": pack(tree.content(files[target]["path"])) if target in fact["content"] else None,
                    }
                    for target in chosen
                ],
                "remove": removed if phase != "users" else [],
                "record": record,
                "effects": effects,
                "units": _units(phase, fact),
                "without": fact["without"],
                "trials": self._not_its_trials(task_vars),
                "only_trial": phase == "trial",
                "replaces": phase == "live",
                "held": _held(phase, fact, task_vars),
            },
            task_vars,
        )
        result.update(done)
        if not done.get("failed") and "done" in done:
            result["msg"] = _summary(done)
        return result

    def _effects(self, phase, fact, task_vars):
        if phase == "users":
            # Told to the journal before the secret is replaced: a run that is cut off in between is carried on.
            return ["create", *(effect for effect in fact["effects"] if kind(effect) == "restart-slurmdbd")]
        if phase == "logins":
            return []
        if phase == "waiting":
            return [effect for effect in fact["later"] if effect == "reboot"]
        if phase == "last":
            return fact["withdrawing"]
        if phase == "emptied":
            return [effect for effect in fact["later"] if kind(effect) in EMPTYING or kind(effect) == "stop"]
        effects = [*fact["effects"], *_from_afar(task_vars)]
        if _plan(task_vars)["reconfigures"] and "slurm_controller" not in task_vars["group_names"]:
            effects = [effect for effect in effects if effect != "reconfigure"]  # slurmctld tells all nodes at once
        return effects

    def _not_its_trials(self, task_vars):
        groups = set(task_vars["group_names"])
        others = {"slurm_compute": "slurmd", "slurm_accounting": "slurmdbd"}
        left = [trial for group, trial in others.items() if group not in groups]
        if task_vars["inventory_hostname"] != _plan(task_vars)["tries"]:
            left.append("slurmctld")
        return left


def _plan(task_vars):
    return task_vars["hostvars"]["localhost"]["ansible_facts"]["clustergen_plan"]


def _held(phase, fact, task_vars):
    """Patterns of packages whose versions are recorded: where none are, and where this run has replaced some."""
    is_new = fact["unrecorded"] or fact["packages"] or fact["replaces"]
    return (task_vars.get("cluster_held_packages") or []) if is_new and phase in ("live", "emptied") else []


def _removes(phase, target, fact):
    """True if a file of an earlier tree goes in this phase."""
    if target in fact["withdrawn"]:
        return phase == "last"
    return phase not in ("last", "logins") and (target in fact["withheld"]) == (phase == "emptied")


def _units(phase, fact):
    """The units to start in a phase; those of packages that wait are started when these are installed."""
    if phase == "live":
        return [unit for unit in fact["units"] if unit not in fact["absent"]]
    return [unit for unit in fact["units"] if unit not in fact["booting"]] if phase == "emptied" else []


def _from_afar(task_vars):
    """Effects here of a controller's changes, where the configuration comes from it."""
    return _plan(task_vars)["from_afar"].get(task_vars["inventory_hostname"], [])


def _summary(done):
    phrases = []
    if done.get("put"):
        phrases.append(f"{counted(len(done['put']), 'file')}")
    if done.get("removed"):
        phrases.append(f"{len(done['removed'])} removed")
    phrases += [effect for effect in done["done"] if kind(effect) not in SLURM_KINDS]
    if done.get("not_asked"):
        phrases.append(f"not tested because the program is missing: {', '.join(done['not_asked'])}")
    return ", ".join(phrases) or "already done"
