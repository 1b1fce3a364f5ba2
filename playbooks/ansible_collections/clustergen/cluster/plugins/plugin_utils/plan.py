"""The plan of a run, from the answers of all hosts: which host does what, when, and what has to wait for jobs.

Only the files of controllers, which slurmctld reads, refuse or stop a run for all hosts. The answer of another host is about
that host alone: if its files require more than those of the controllers require of it, it comes last, by itself.
"""

from __future__ import annotations

from ansible_collections.clustergen.cluster.plugins.module_utils.controller import SITE
from ansible_collections.clustergen.cluster.plugins.module_utils.effects import SLURM_UNITS
from ansible_collections.clustergen.cluster.plugins.plugin_utils.effects import (
    AGAIN,
    DRAINING,
    NODE_UNITS,
    kind,
    turn_of,
)
from ansible_collections.clustergen.cluster.plugins.plugin_utils.hosts import counted, folded

NOBODY = "all:!all"
_RESTART = "restart-slurmd"
_READ_AGAIN = frozenset(("reconfigure", "restart-slurmctld"))


class Asked:
    """Who was asked. all_controllers: of the cluster, the first one first; hosts: of this run, whether they answered or
    not; all_hosts: of the inventory; routers: of LNet. `changes` is False where this run only looks.
    """

    def __init__(self, all_controllers, hosts, all_hosts, routers=(), changes=True, lost_ok=False, same_ok=False):
        self.all_controllers = list(all_controllers)
        self.hosts = set(hosts)
        self.all_hosts = set(all_hosts)
        self.routers = set(routers)
        self.changes = changes
        self.lost_ok = lost_ok
        self.same_ok = same_ok


class _Controllers:
    """Demands of slurmctld's new files on the cluster, by the answers of the controllers."""

    def __init__(self, answers, asked):
        self.names = [name for name in asked.all_controllers if name in answers]
        # With --limit a controller may be no host of this run, and is asked all the same.
        self.elsewhere = [name for name in asked.all_controllers if name not in asked.hosts]
        self.from_afar = answers[self.names[0]]["elsewhere"] if self.names else {}
        self.refuse = sorted({reason for name in self.names for reason in answers[name]["refuse"]})
        self.cancels = {key: why for name in self.names for key, why in answers[name]["cancels"].items()}
        self.lost = [*self.refuse, *self.cancels.values()]
        self.serving = next((name for name in self.names if answers[name]["controlling"]), "")
        self.one = self.serving or next(iter(self.elsewhere), "")  # which answers, as far as is known
        # What slurmctld will read is about nodes whose own files do not differ, too, and about some that this run does not reach.
        self.to_empty = dict.fromkeys(host for name in self.names for host in answers[name]["empties"])
        # Nodes that the new files set to DOWN stay drained.
        self.vacated = {host for name in self.names for host in answers[name]["vacates"]}
        self.drained = {host for name in self.names for host in answers[name]["drained"]}
        self.reconfigures = any(_READ_AGAIN & set(answers[name]["effects"]) for name in self.names)


class _Turns:
    """Hosts of a run by when they are changed, and what they need before."""

    def __init__(self, answers, asked, slurm, behind):
        clients = dict.fromkeys(host for fact in answers.values() for host in fact["clients"])
        to_drain = {**(slurm.to_empty if slurm.serving else {}), **clients}
        self.together = [
            host
            for host in answers
            if _drains(slurm.from_afar, answers, host)
            or (host in to_drain and answers[host]["serving"])
            or (answers[host]["together"] and (host in slurm.to_empty or host in slurm.names))
            # Where people have stopped the file system, slurmd does not run: its node is drained and has to be resumed.
            or ((host in clients or answers[host]["windows"]) and "slurmd.service" in answers[host]["units"])
        ]
        self.alone = [
            host
            for host in behind
            if host not in slurm.names
            and (
                (answers[host]["together"] and host not in self.together)
                or (answers[host]["refuse"] and not slurm.refuse)
            )
        ]
        self.absent = [host for host in to_drain if host not in answers]
        self.emptied = [*self.together, *self.absent] if slurm.one or not asked.lost_ok else []
        # A machine that gets another name may inherit the drain of the node that it was.
        settled = [*self.together, *self.alone]
        inheriting = [host for host in behind if self.absent and host not in settled and answers[host]["serving"]]
        self.resumed = [host for host in [*self.together, *inheriting] if host not in slurm.vacated]
        # Drained by a run that did not come to their resume.
        self.left = [host for host in answers if host in slurm.drained and host not in self.resumed]
        self.live = [host for host in behind if host not in self.alone]
        later = [host for host in self.live if answers[host]["later"]]
        # Whoever is drained for the files of all is changed at once, and resumed once.
        self.drained = [host for host in later if host in self.together]
        self.draining = [host for host in later if answers[host]["serving"] and host not in self.drained]
        # Nobody uses a compute node whose slurmd is down; hosts without slurmd may be in use.
        self.idle = [
            host for host in later if not answers[host]["serving"] and "slurmd.service" in answers[host]["units"]
        ]
        others = [host for host in later if host not in [*self.drained, *self.idle, *self.draining]]
        self.routers = [host for host in others if host in asked.routers]
        self.rolling = [*(host for host in others if host not in self.routers), *self.draining]


def make_plan(answers, asked):
    """The plan, its summary, and the reasons why it cannot be carried out.

    answers: host → the fact of the action `ask`, of the hosts that can be applied to. Values of the plan are patterns of hosts for
    the plays, but for those that say otherwise.
    """
    slurm = _Controllers(answers, asked)
    other = _other_secrets(answers, slurm.names)
    behind = [host for host, fact in answers.items() if fact["behind"] or host in other or host in slurm.from_afar]
    turns = _Turns(answers, asked, slurm, behind)
    live = turns.live
    same = {host: text for host, text in clashes(answers).items() if not asked.same_ok}
    controlling = [name for name in slurm.names if name in behind]
    moves = any(kind(effect) == "move-state" for name in controlling for effect in answers[name]["effects"])
    marked = next(iter([*slurm.names, *slurm.elsewhere]), "")
    accounting = [host for host in behind if "slurmdbd.service" in answers[host]["units"]]
    accounting += _companion(behind, accounting)
    windows = sorted({unit for host in turns.together for unit in answers[host]["windows"]})

    def has_turn(hosts, units):
        return any(
            any(turn_of(answers[host], units, answers[host]["effects"], slurm.reconfigures)[1:]) for host in hosts
        )

    def pattern(hosts, selected=True):
        return ",".join(hosts if asked.changes and selected else ()) or NOBODY

    plan = {
        "behind": pattern(behind),
        "live": pattern(live),
        # A task that all hosts skip takes a process for each of them; these plays run for all or none.
        "preparing": pattern(behind, other or any(_prepares(answers[host]) for host in behind)),
        "booting": pattern(live, any(answers[host]["boot"]["at_once"] for host in live)),
        "settling": pattern(live, turns.drained or slurm.from_afar or has_turn(live, NODE_UNITS)),
        "drained": pattern([*turns.drained, *_companion(live, turns.drained)], turns.drained),
        "without_jobs": turns.drained,  # names
        "alone": pattern([*turns.alone, *_companion(live, turns.alone)], turns.alone),
        "by_themselves": turns.alone,  # names
        "clashing": pattern([*same, *_companion(answers, same)], same),
        "same": same,  # host → whose machine it is, in words
        "controllers": pattern(controlling),
        "again": pattern([name for name in controlling if AGAIN in answers[name]["effects"]]),
        "accounting": pattern(accounting, has_turn(accounting, ("slurmdbd.service",))),
        "gate": pattern(live, slurm.lost and slurm.one and not asked.lost_ok),
        "emptying": pattern(live, turns.emptied),
        "together": pattern(turns.together, turns.emptied),
        "logins": pattern([host for host in live if answers[host]["guarded"]]),
        "resumed": pattern(turns.resumed, turns.emptied),
        "rolling": pattern(turns.rolling),
        "returning": pattern([*controlling, *turns.left], turns.left),
        "left": turns.left,  # names
        "idle": pattern(turns.idle),
        "routers": pattern(turns.routers),
        "withdrawing": pattern([host for host in behind if answers[host]["withdrawn"]]),
        "stop": pattern(live if slurm.refuse else controlling, slurm.refuse or moves),
        "stopped": list(SLURM_UNITS if slurm.refuse else ["slurmctld.service"]),
        "marks": pattern(behind, marked),
        "emptied": turns.emptied,  # names, of which some may be no hosts of this run
        "mark": SITE,
        "why": f"{SITE}{_why(windows)}",
        "kept": dict.fromkeys(slurm.vacated, "its State in slurm.conf"),  # node → why it is not resumed
        "windows": bool(windows),
        "partitions": [] if slurm.refuse else sorted(slurm.cancels),
        "refuse": slurm.lost,
        "controller": slurm.one or next(iter(asked.all_controllers), "localhost"),
        "tries": next(iter(controlling), ""),
        "marked": marked,
        "last_run": answers[marked]["last_run"] if marked in answers else "",
        "reconfigures": slurm.reconfigures,
        "other_secrets": sorted(other),
        "from_afar": {
            host: [_RESTART] for host in slurm.from_afar if host in answers and _RESTART in slurm.from_afar[host]
        },
    }
    left_out = [host for host in turns.absent if host in asked.all_hosts and host not in asked.hosts]
    blind = asked.changes and not slurm.one and not asked.lost_ok
    at_risk = [*slurm.lost, *(["nodes must be drained for it"] if turns.emptied else [])]
    return (
        plan,
        _summary(len(answers), behind, [*turns.emptied, *turns.draining], turns.alone, slurm.lost),
        list(_refusals(left_out, at_risk if blind else [])),
    )


def _summary(total, behind, drained, alone, lost):
    lines = [f"{len(behind)} of {counted(total, 'host')} {'needs' if len(behind) == 1 else 'need'} changes"]
    if drained:
        lines.append(f"drained first: {folded(drained)}")
    if alone:
        lines.append(f"last, one at a time: {folded(alone)}")
    if lost:
        lines.append(f"requires a cluster without jobs: {'; '.join(lost)}")
    return "; ".join(lines)


def _refusals(left_out, at_risk):
    """`left_out`: hosts to be emptied that this run does not include; `at_risk`: what loses jobs that nobody can count."""
    if left_out:
        yield (
            f"this change requires that no job runs on {folded(left_out)}, which are not part of this run: run site.yml on all hosts, "
            "without --limit"
        )
    if at_risk:
        yield (
            f"this change would lose jobs ({'; '.join(at_risk)}), and slurmctld does not run on any host that this run "
            "reached, so jobs cannot be counted. Nothing was changed. Start slurmctld first, or set "
            "-e cluster_jobs_may_be_lost=true"
        )


def clashes(answers):
    """Host → why it is left out: its machine has the name of another one that answered. Who is called so itself stays."""
    seen = {}
    for host, fact in answers.items():
        seen.setdefault(fact["host"].partition(".")[0], []).append(host)
    return {
        host: f"{folded(hosts)} are the same machine, {name}"
        for name, hosts in seen.items()
        if len(hosts) > 1
        for host in hosts
        if host != name
    }


def _companion(hosts, few):
    """Ansible ends a run where all hosts of a play fail: one that has nothing to do in it keeps the others going."""
    return [host for host in hosts if host not in few][:1] if few else []


def _why(windows):
    return f"maintenance window for {', '.join(windows)}" if windows else "its devices or slurmd's own directories change"


def _prepares(fact):
    """True if a host requires packages, accounts or secrets before its files."""
    lists = ("packages", "paths", "start", "replaced_secrets")
    return any(fact[name] for name in lists) or None in fact["secrets"].values()


def _drains(from_afar, answers, host):
    return answers[host]["serving"] and not DRAINING.isdisjoint(from_afar.get(host, ()))


def _other_secrets(answers, controllers):
    """Hosts whose secrets are not those of the first controller."""
    if not controllers:
        return set()
    reference = answers[controllers[0]]["secrets"]
    return {
        host
        for host, fact in answers.items()
        for path, digest in fact["secrets"].items()
        if digest and reference.get(path) and reference[path] != digest
    }
