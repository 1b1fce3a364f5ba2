"""The effects of the changed files of one host, and their order: from the files' own effects and, for Slurm's, from the
changes in them.
"""

from __future__ import annotations

import re

SLURM_DIRECTORY = "/etc/slurm/"
SLURM_KINDS = frozenset(
    (
        "reconfigure",
        "load-accounts",
        "restart-slurm",
        "restart-slurmctld",
        "new-cluster-id",
        "move-state",
        "restart-slurmd",
        "restart-slurmdbd",
        "refuse",
    )
)
NODE_UNITS = ("slurmd.service", "sackd.service", "slurmrestd.service")
# Kinds that need an empty node; told by a file of the node itself, so that nodes can take turns.
EMPTYING = frozenset(("remount", "drain", "reboot"))
# Group of hosts without jobs that have turns all the same: nodes go on with the others.
ROUTERS = "lnet_router"
# Kinds of changes of Slurm's files for which nodes have to be without jobs; of these `vacate` leaves them drained.
DRAINING = frozenset(("drain", "vacate"))
# The restart of slurmctld that waits for its play, after the nodes.
AGAIN = "restart-slurmctld:again"
_COMPARED = frozenset(("reconfigure", "restart-slurmd", "restart-slurmdbd", "refuse", "drain"))


# What the boot loader or the initramfs copy from files, and therefore do not see by themselves.
_MODULE_OPTIONS = "/etc/modprobe.d/"
_KERNEL_OPTIONS = ("/etc/default/grub.d/", "/etc/clustergen/kernel-options")


def boot(changed, leftovers, withheld):
    """The work of the role `boot` on one host. `changed`: targets with other content; `leftovers`: targets to remove.

    A file whose reboot is left to the administrator is put at once, and what boots reads it at once: `at_once`.
    """
    prefixes = (_MODULE_OPTIONS, *_KERNEL_OPTIONS)
    return {
        "module_options": any(target.startswith(_MODULE_OPTIONS) for target in [*changed, *leftovers]),
        "kernel_options": any(target.startswith(_KERNEL_OPTIONS) for target in [*changed, *leftovers]),
        "at_once": any(target.startswith(prefixes) for target in changed if target not in withheld),
    }


def kind(effect):
    return effect.partition(":")[0]


def turn_of(fact, units, effects, reconfigures):
    """Of these units, those of a host; the effects that are their turn; those that do not run. `reconfigures`: slurmctld
    tells all nodes.
    """
    turn = [unit for unit in units if unit in fact["units"]]
    requested = [e for e in dict.fromkeys(effects) if _is_turn(e, turn, fact["units"]) and e != AGAIN]
    if reconfigures and "slurmctld.service" not in fact["units"]:
        requested = [effect for effect in requested if effect != "reconfigure"]
    return turn, requested, [unit for unit in turn if unit in fact["start"]]


def _is_turn(effect, turn, units):
    """True if an effect belongs to the units whose turn it is."""
    name, _, unit = effect.partition(":")
    if name in ("load-accounts", "move-state", "new-cluster-id"):
        return "slurmctld.service" in turn
    if name == "reconfigure":
        return ("slurmctld.service" if "slurmctld.service" in units else "slurmd.service") in turn
    return unit in turn or name.removeprefix("restart-") + ".service" in turn


class Verdict:
    """The meaning of applying for one host."""

    def __init__(self):
        self.effects = []  # now
        self.guarded = []  # targets that wait until the daemons run, without which they would shut users out
        self.withheld = []  # targets that wait until the node is empty
        self.later = []  # effects of those
        self.together = False  # drained before any file of Slurm changes anywhere
        self.reasons = []  # of everything that is worse than a reload
        self.refuse = []  # why it must not be while jobs are there
        self.cancels = {}  # partition → why its jobs would be lost
        self.windows = {}  # what needs a maintenance window → whether it runs here
        self.withdrawn = []  # targets that go when no host mounts any more what they offer
        self.withdrawing = []  # effects of those
        self.stopped = []  # units of an earlier tree

    def add(self, effect):
        if kind(effect) not in ("none", "after") and effect not in self.effects:
            self.effects.append(effect)

    def stop(self, units):
        """Adds the end of services of an earlier tree, on an empty node where it has to be empty anyway: what goes then may
        need them.
        """
        self.stopped = list(units)
        self.effects = [effect for effect in self.effects if effect.partition(":")[2] not in self.stopped]
        effects = [f"stop:{unit}" for unit in self.stopped]
        if self.later:
            self.later = [effect for effect in self.later if effect.partition(":")[2] not in self.stopped] + effects
        else:
            self.effects += effects

    def replace(self, effect, reboots):
        """Adds what it takes to replace packages in use: a reboot only where this run may do that."""
        if kind(effect) == "window":
            self.windows[effect.partition(":")[2]] = True
        elif not reboots:
            self.reasons.append("packages in use are replaced by a run that may reboot")
        else:
            self.later += [effect] if effect not in self.later else []
            self.reasons.append("packages in use are replaced")


def judge(host, roles, release, files, state, contents, units, first_controller, reboots=True, inside=None, mounted=()):
    """The verdict on one host.

    files: of the tree, by target; state: the answer of node_state; contents: target → (old or None, new), as text, for
    all of Slurm's files. `roles` are the host's groups, `units` those that it runs. Without
    `reboots` a file that takes one is put at once, and the reboot is left to the administrator. `inside`: target → its
    effect by the difference of its texts, where that is another one than the tree's; `mounted`: groups of clients.
    """
    from clustergen.diff.windows import is_served

    verdict = Verdict()
    verdict.guarded = _guarded(files, state, units)
    idle_units = set(state["units"])
    serving = "slurmd.service" in state["running"]
    waits = serving or ROUTERS in roles
    semantic = {target for target in contents if contents[target][0] is not None}
    for difference in state["differs"]:
        target = difference["target"]
        effect = files[target]["effect"]
        if "content" not in difference["what"]:
            continue
        if target in semantic and kind(effect) in _COMPARED and ":" not in effect:
            continue  # what changed inside tells
        inner = (inside or {}).get(target, effect)
        if kind(inner) == "window":
            _window(verdict, target, effect, inner, idle_units, new=not difference["there"])
            continue
        effect = inner
        if effect == "reboot" and not reboots:
            verdict.reasons.append(f"{target} takes effect at the next boot")
            continue
        _take(verdict, target, effect, idle_units, waits, new=not difference["there"])
    removed_units = {target.rpartition("/")[2] for target in state["leftovers"] if "/systemd/" in target}
    for target in state["leftovers"]:
        effect = state["effects_of"].get(target, "none")
        if kind(by_texts := (inside or {}).get(target, "")) == "window":  # at another mount point of another server
            verdict.windows[by_texts.partition(":")[2]] = True
            verdict.add("daemon-reload")
            continue
        if is_served(target):
            _withdraw(verdict, target, effect, mounted)
            continue
        starts = kind(effect) in ("run", "reload", "restart") and "/systemd/" not in target
        if starts and effect.partition(":")[2] in removed_units:
            continue  # the unit goes as well
        _take(verdict, target, effect, idle_units, waits, new=False, is_removed=True)
    if any(contents[target][0] != contents[target][1] for target in semantic):
        _slurm(verdict, host, roles, release, contents, serving)
    for effect in state["pending"]:
        if effect == "reboot" and not reboots:
            continue
        if kind(effect) in EMPTYING:
            if effect not in verdict.later:
                verdict.later.append(effect)
        else:
            verdict.add(effect)
    verdict.effects = list(dict.fromkeys(_local(verdict.effects, units, host == first_controller)))
    return verdict


def _guarded(files, state, units):
    """Targets that wait for a unit of this host."""
    effects = {d["target"]: files[d["target"]]["effect"] for d in state["differs"]}
    idle = set(units).difference(state["running"])
    return [
        target for target, effect in effects.items() if kind(effect) == "after" and effect.partition(":")[2] in idle
    ]


def _local(effects, units, first_controller):
    """Effects on Slurm's daemons as this host has them; those on daemons of other hosts are left out."""
    for effect in effects:
        parts = ["restart-slurmctld", "restart-slurmd"] if effect in ("restart-slurm", "refuse") else [effect]
        for part in parts:
            if part == "load-accounts" or kind(part) == "move-state":
                if first_controller:
                    yield part
            elif part == "reconfigure":
                if {"slurmctld.service", "slurmd.service"} & set(units):
                    yield part
            elif not part.startswith("restart-") or kind(part).removeprefix("restart-") + ".service" in units:
                yield part


def _window(verdict, target, effect, inner, idle_units, new):
    """A change with all other hosts that it is about, when their nodes are empty."""
    from clustergen.diff.windows import on_servers
    from clustergen.render.effects import read

    unit = inner.partition(":")[2]
    is_servers = kind(effect) == "window"
    verdict.add(str(on_servers(target, read(effect), is_there=not new)) if is_servers else effect)
    if not (new and target.endswith(".mount")) and not (is_servers and unit in idle_units):
        verdict.windows[unit] = unit not in idle_units


def _withdraw(verdict, target, effect, mounted):
    """The end of a file system on its server: in a window where clients stay, else when all have unmounted it."""
    unit = effect.partition(":")[2]
    name = re.sub("[-.]", "_", unit)
    effect = "daemon-reload" if target.endswith(".mount") else effect
    if f"mount_{name}" in mounted:
        verdict.windows[unit] = True
        verdict.add(effect)
    else:
        verdict.withdrawn.append(target)
        verdict.withdrawing += [] if effect in verdict.withdrawing else [effect]
        verdict.reasons.append(f"{target} goes when no host mounts any more what it offers")


def _take(verdict, target, effect, idle_units, waits, new, is_removed=False):
    name, _, unit = effect.partition(":")
    if name not in EMPTYING:
        verdict.add(effect if not (is_removed and unit) else ("daemon-reload" if "/systemd/" in target else effect))
    elif name != "reboot" and (unit in idle_units or not waits):
        # No job to take anything from; and what does not run yet is only started.
        verdict.add("restart:" + unit if name == "drain" else "none" if unit in idle_units or new else effect)
    else:
        verdict.withheld.append(target)
        if effect not in verdict.later:
            verdict.later.append(effect)
        verdict.reasons.append(f"{target} changed ({effect})")


def _changes(contents, release):
    from clustergen.catalogue.versions import SlurmRelease
    from clustergen.diff.slurm import slurm_changes

    old = {target: before for target, (before, _) in contents.items() if before is not None}
    new = {target: after for target, (_, after) in contents.items() if after is not None}
    return slurm_changes(old, new, SlurmRelease(str(release)))


def elsewhere(hosts, release, contents):
    """Effects of a controller's changes on nodes that get their configuration from it: host → effects."""
    from clustergen.diff.slurm import effects_on

    if all(before is None or before == after for before, after in contents.values()):
        return {}
    changes = _changes(contents, release)
    by_host = {}
    for host in hosts:
        effects = [str(effect) for effect in effects_on(changes, host, {"all", "slurm_compute"})]
        selected = [effect for effect in effects if kind(effect) in DRAINING | {"restart-slurmd"}]
        if selected:
            by_host[host] = selected
    return by_host


def emptied_by(hosts, release, contents, kinds=DRAINING):
    """The nodes that a controller's changes need without jobs, of `hosts` and of removed ones: names, in their order."""
    from clustergen.hostlist import HostlistError, expand

    if all(before is None or before == after for before, after in contents.values()):
        return []
    reasons = {}
    for change in _changes(contents, release):
        if any(effect.kind in kinds for effect in change.effects):
            try:
                reasons.update(dict.fromkeys(hosts if change.nodes is None else expand(change.nodes)))
            except HostlistError:  # a name that is no host's in a file that Slurm refuses
                reasons[change.nodes] = None
    return list(reasons)


def _slurm(verdict, host, roles, release, contents, serving):
    from clustergen.diff.slurm import effects_on

    changes = _changes(contents, release)
    for change in changes:
        words = f"{change.name or change.kind} {change.key or ''}: {change.reason}".replace(" :", ":")
        if str(change.effect) == "refuse":
            verdict.refuse.append(words)
        elif str(change.effect) == "cancel-jobs":
            verdict.cancels[change.name] = words
    for effect in map(str, effects_on(changes, host, roles)):
        if kind(effect) in DRAINING:
            verdict.together = verdict.together or serving
            verdict.reasons.append("its devices or the directories of its daemon change")
        elif kind(effect) != "cancel-jobs":  # the gate has seen to that
            verdict.add(effect)
