"""Host lists that Slurm cannot read, or reads otherwise than it looks; and where in a list a host stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from clustergen.catalogue.versions import since
from clustergen.diagnostics import Severity, did_you_mean, quote
from clustergen.hostlist import HostlistError, compress, expand, span_of, validate_for_slurm
from clustergen.lint.finding import LintFinding
from clustergen.lint.site import Site, Spot, expanded
from clustergen.slurmconf.config import Setting


def node_names(site: Site, names: Setting) -> LintFinding | None:
    """A host list that Slurm of this release cannot read, or reads with a shrug."""
    try:
        validate_for_slurm(names.text, str(site.release), str(since("hostlist-suffix")))
    except HostlistError as err:
        spot = site.part(names, err.offset, err.length)
        if "different widths" in err.message:
            hint = "write the same number of digits on both sides of the dash"
            return site.warning("hostlist-syntax", spot, f"{err.message}; Slurm uses the width of the first", hint)
        if "padded" in err.message:
            return site.note("hostlist-not-for-slurm", spot, err.message, err.hint)
        if "comma" in err.message:
            return site.warning("hostlist-syntax", spot, err.message, err.hint)
        if "never closed" in err.message and not site.has("bracket-stops"):
            return site.warning("hostlist-syntax", spot, err.message, err.hint)
        code = "hostlist-not-for-slurm" if "text after" in err.message else "hostlist-syntax"
        return site.error(code, spot, f"{err.message}; slurmctld does not start", err.hint)
    return None


def unreadable(site: Site, setting: Setting, message: str, severity: Severity = Severity.ERROR) -> LintFinding:
    """A host list that nobody can read here; Slurm reads one of numbers of different widths."""
    try:
        expand(setting.text)
    except HostlistError as err:
        spot = site.part(setting, err.offset, err.length)
        if "different widths" in err.message:
            message, severity = f"{err.message}; Slurm uses the width of the first", Severity.WARNING
        elif severity is Severity.ERROR:
            message = f"{message}; slurmctld does not start"
        return site.finding("hostlist-syntax", severity, spot, message, err.hint)
    return site.finding("hostlist-syntax", severity, setting, message)


def spot_of(site: Site, setting: Setting, host: str) -> Spot | Setting:
    """The item of a host list that stands for one name."""
    try:
        at = span_of(setting.text, host)
    except HostlistError:
        at = None
    return site.part(setting, *at) if at else setting


def near_node(site: Site, name: str) -> str | None:
    """A hint at a node of nearly that name."""
    return did_you_mean(name, islice(site.hosts, 2000))


def not_defined(what: str, names: Sequence[str]) -> str:
    """`node 'n1' is not defined`, or `nodes n[1-8] are not defined`; long lists are cut."""
    if len(names) == 1:
        return f"{what} {quote(names[0])} is not defined"
    plural = f"{what}es" if what.endswith("ch") else f"{what}s"
    return f"{plural} {compress(names[:2000], suffixes=True)} are not defined"


def unknown_nodes(
    site: Site, setting: Setting, hosts: Iterable[str], code: str, does: str = "; Slurm logs an error"
) -> Iterator[LintFinding]:
    """Hosts of a list that slurm.conf does not have, as one warning. `does`: what Slurm makes of them."""
    if site.slurm is None or not site.complete:
        return
    missing = [host for host in hosts if host not in site.hosts]
    if not missing:
        return
    everyone = missing[0].upper() == "ALL"
    hint = "write the nodes: ALL is not supported here" if everyone else near_node(site, missing[0])
    message = f"{not_defined('node', missing)} in slurm.conf{does}"
    yield site.warning(code, spot_of(site, setting, missing[0]), message, hint)


def members(
    site: Site, nodes: Setting, name: str, owner: dict[str, str], unknown: str, twice: tuple[str, str]
) -> Iterator[LintFinding]:
    """The nodes of one switch or block: known ones, and in no other.

    `owner`: node → the first that has it, which this adds to. `unknown` is a code; `twice` a code, and words with `{}`
    for the first owner.
    """
    hosts = expanded(nodes.text)
    if hosts is None:
        yield unreadable(site, nodes, f"the nodes of '{name}' are not a host list")
        return
    yield from unknown_nodes(site, nodes, hosts, unknown)
    again = [host for host in hosts if owner.setdefault(host, name) != name]
    if again:
        message = f"'{again[0]}' {twice[1].format(owner[again[0]])}"
        yield site.warning(twice[0], spot_of(site, nodes, again[0]), message)
