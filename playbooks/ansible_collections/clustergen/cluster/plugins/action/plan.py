"""Looks over the answers of all hosts, once: who is behind, who has to be emptied, and what must not be while jobs run."""

from __future__ import annotations

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

NOBODY = "all:!all"


class ActionModule(ActionBase):
    """Sets the fact `clustergen_plan`: host patterns for the plays that follow. Runs once."""

    TRANSFERS_FILES = False
    _requires_connection = False
    _VALID_ARGS = frozenset(("jobs_may_be_lost",))

    def run(self, tmp=None, task_vars=None):
        result = super().run(tmp, task_vars)
        answers = {}
        for host in task_vars["ansible_play_hosts"]:
            fact = task_vars["hostvars"][host].get("clustergen")
            if fact:
                answers[host] = fact
        controllers = [name for name in task_vars.get("slurm_controllers") or [] if name in answers]
        other = _other_secrets(answers, controllers)
        from_afar = answers[controllers[0]]["elsewhere"] if controllers else {}
        behind = [host for host, fact in answers.items() if fact["behind"] or host in other or host in from_afar]
        refuse = sorted({reason for fact in answers.values() for reason in fact["refuse"]})
        cancels = {name: why for fact in answers.values() for name, why in fact["cancels"].items()}
        together = [host for host in behind if answers[host]["together"] or _drains(from_afar, answers, host)]
        later = [host for host in behind if answers[host]["later"]]
        rolling = [host for host in later if answers[host]["serving"]]
        controller = next((name for name in controllers if answers[name]["controlling"]), "")
        told_by = {"reconfigure", "restart-slurmctld"}
        changes = not self._task.check_mode
        plan = {
            "behind": _pattern(behind if changes else []),
            "controllers": _pattern([name for name in controllers if name in behind and changes]),
            "accounting": _pattern(
                [host for host in behind if changes and "slurmdbd.service" in answers[host]["units"]]
            ),
            "together": _pattern(together if changes and controller else []),
            "rolling": _pattern(rolling if changes else []),
            "empty": _pattern([host for host in later if host not in rolling and changes]),
            "stop": _pattern(behind if changes and refuse else []),
            "gate": _pattern([controller] if changes and (refuse or cancels) and controller else []),
            "partitions": [] if refuse else sorted(cancels),
            "refuse": [*refuse, *cancels.values()],
            "controller": controller or next(iter(controllers), "localhost"),
            "reconfigures": any(told_by & set(answers[name]["effects"]) for name in controllers),
            "other_secrets": sorted(other),
            "from_afar": {host: ["restart-slurmd"] for host in from_afar if host in answers},
        }
        told = [f"{len(behind)} of {len(answers)} hosts differ"]
        if together or rolling:
            told.append(f"emptied first: {', '.join([*together, *rolling][:20])}")
        if refuse or cancels:
            told.append(f"not while jobs are there: {'; '.join([*refuse, *cancels.values()])}")
        result.update(changed=False, ansible_facts={"clustergen_plan": plan}, msg="; ".join(told))
        clashes = [] if boolean(task_vars.get("cluster_same_ok", False)) else _clashes(answers)
        if clashes:
            result.update(failed=True, msg="; ".join(clashes))
        return result


def _drains(from_afar, answers, host):
    return answers[host]["serving"] and "drain" in from_afar.get(host, ())


def _pattern(hosts):
    return ",".join(hosts) or NOBODY


def _other_secrets(answers, controllers):
    """Hosts whose secrets are not those of the first controller."""
    if not controllers:
        return set()
    own = answers[controllers[0]]["secrets"]
    return {
        host
        for host, fact in answers.items()
        for path, found in fact["secrets"].items()
        if found and own.get(path) and own[path] != found
    }


def _clashes(answers):
    seen = {}
    for host, fact in answers.items():
        seen.setdefault(fact["host"], []).append(host)
    return [f"{' and '.join(hosts)} are the same machine, {name}" for name, hosts in seen.items() if len(hosts) > 1]
