"""From the answers of all hosts to who does what, when, and what must not be while jobs run."""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.plugin_utils.hosts import counted, folded

NOBODY = "all:!all"
_TOLD_BY = frozenset(("reconfigure", "restart-slurmctld"))


class Asked:
    """Who was asked. all_controllers: of the cluster, the first one first; hosts: of this run, whether they answered or
    not; known: of the inventory. `changes` is False where this run only looks.
    """

    def __init__(self, all_controllers, hosts, known, changes=True, lost_ok=False):
        self.all_controllers = list(all_controllers)
        self.hosts = set(hosts)
        self.known = set(known)
        self.changes = changes
        self.lost_ok = lost_ok


def drawn(answers, asked):
    """The plan, a summary of it, and why it cannot be (one text per reason).

    answers: host → the fact of the action `ask`, of the hosts that can be applied to. Values of the plan are patterns of hosts for
    the plays, but for those that say otherwise.
    """
    controllers = [name for name in asked.all_controllers if name in answers]
    # With --limit a controller may be no host of this run, and is asked all the same.
    afar = [name for name in asked.all_controllers if name not in asked.hosts]
    other = _other_secrets(answers, controllers)
    from_afar = answers[controllers[0]]["elsewhere"] if controllers else {}
    behind = [host for host, fact in answers.items() if fact["behind"] or host in other or host in from_afar]
    refuse = sorted({reason for fact in answers.values() for reason in fact["refuse"]})
    cancels = {name: why for fact in answers.values() for name, why in fact["cancels"].items()}
    lost = [*refuse, *cancels.values()]
    serving = next((name for name in controllers if answers[name]["controlling"]), "")
    controller = serving or next(iter(afar), "")
    together = [host for host in behind if answers[host]["together"] or _drains(from_afar, answers, host)]
    why = next((reason for host in together for reason in answers[host]["reasons"]), "its configuration changes")
    # What slurmctld will read is about nodes whose own files do not differ, too, and about some that this run does not reach.
    told_of = dict.fromkeys(host for name in controllers for host in answers[name]["empties"] if serving)
    together += [host for host in told_of if host in answers and answers[host]["serving"] and host not in together]
    absent = [host for host in told_of if host not in answers]
    emptied = [*together, *absent] if controller or not asked.lost_ok else []
    later = [host for host in behind if answers[host]["later"]]
    rolling = [host for host in later if answers[host]["serving"]]
    marked = next(iter([*controllers, *afar]), "")
    accounting = [host for host in behind if "slurmdbd.service" in answers[host]["units"]]
    if accounting:
        # Ansible ends a run where all hosts of a play fail: one that has nothing to do there lets the others be served.
        accounting += [host for host in behind if host not in accounting][:1]

    def pattern(hosts, wanted=True):
        return ",".join(hosts if asked.changes and wanted else ()) or NOBODY

    plan = {
        "behind": pattern(behind),
        "controllers": pattern([name for name in controllers if name in behind]),
        "accounting": pattern(accounting),
        "gate": pattern(behind, lost and controller and not asked.lost_ok),
        "emptying": pattern(behind, emptied),
        "together": pattern(together, emptied),
        "rolling": pattern(rolling),
        "empty": pattern([host for host in later if host not in rolling]),
        "stop": pattern(behind, refuse),
        "marks": pattern(behind, marked),
        "emptied": emptied,  # names, of which some may be no hosts of this run
        "why": why,
        "partitions": [] if refuse else sorted(cancels),
        "refuse": lost,
        "controller": controller or next(iter(asked.all_controllers), "localhost"),
        "tries": next((name for name in controllers if name in behind), ""),
        "marked": marked,
        "last_run": answers[marked]["last_run"] if marked in answers else "",
        "reconfigures": any(_TOLD_BY & set(answers[name]["effects"]) for name in controllers),
        "other_secrets": sorted(other),
        "from_afar": {host: ["restart-slurmd"] for host in from_afar if host in answers},
    }
    told = [f"{len(behind)} of {counted(len(answers), 'host')} {'differs' if len(behind) == 1 else 'differ'}"]
    if emptied or rolling:
        told.append(f"emptied first: {folded([*emptied, *rolling])}")
    if lost:
        told.append(f"not while jobs are there: {'; '.join(lost)}")
    wrong = []
    if left_out := [host for host in absent if host in asked.known and host not in asked.hosts]:
        wrong.append(
            f"slurmctld's new files take that no job runs on {folded(left_out)}, and this run is not for them: apply to all, "
            "without --limit, by site.yml"
        )
    if asked.changes and (lost or emptied) and not controller and not asked.lost_ok:
        wrong.append(
            f"this change would lose jobs ({'; '.join([*lost, *([why] if emptied else [])])}), and slurmctld runs nowhere that this run "
            "has reached, so that nobody knows whether there are any. Nothing was changed. Start it first, or say "
            "-e cluster_jobs_may_be_lost=true"
        )
    return plan, "; ".join(told), wrong


def clashes(answers):
    """Hosts of the inventory that are one machine."""
    seen = {}
    for host, fact in answers.items():
        seen.setdefault(fact["host"], []).append(host)
    return [f"{' and '.join(hosts)} are the same machine, {name}" for name, hosts in seen.items() if len(hosts) > 1]


def _drains(from_afar, answers, host):
    return answers[host]["serving"] and "drain" in from_afar.get(host, ())


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
