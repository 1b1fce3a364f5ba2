"""Cross-checks of a resolved cluster: a topic per module.

A rule is found by its type: a public function `(cluster: Cluster) -> Iterator[Finding]` in a module of this package or
of the stage `rules` of a feature. One that judges how something was written has a second argument,
`section`, whose type is that of a section of the manifest, as `Logs` or `Mapping[str, NodeType]`; it is asked where the
section is present. One that judges the section alone calls its first argument `_`. Further arguments are records of the
cluster, by their type; it is asked where the cluster has them. A rule whose one code no other rule reports has the name
of that code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

from clustergen.cluster.model import Cluster, argument_types, arguments_for
from clustergen.diagnostics import CODES, Finding
from clustergen.feature import Attributed, extension_of, extensions, items_of, modules, wording
from clustergen.manifest.model import Manifest
from clustergen.manifest.places import section_for

Rule = Callable[..., Iterator[Finding]]
_TYPES = ["Cluster", "Iterator[Finding]"]
_DIRECTORY = Path(__file__).parent


@cache
def rules() -> tuple[Rule, ...]:
    """All rules, module by module."""
    names = (f"{__name__}.{file.stem}" for file in sorted(_DIRECTORY.glob("[!_]*.py")))
    return tuple(rule for module in (*map(import_module, names), *modules("rules")) for rule in rules_of(module))


def rules_of(module: ModuleType) -> Iterator[Rule]:
    """The rules of one module, in its order."""
    for name, value in vars(module).items():
        is_own = isinstance(value, FunctionType) and value.__module__ == module.__name__
        if is_own and not name.startswith("_"):
            types = [wording(kind) for kind in value.__annotations__.values()]
            records = argument_types(value)[1 + ("section" in value.__annotations__) :]
            if [*types[:1], *types[-1:]] == _TYPES and all(hasattr(kind, "__record_fields__") for kind in records):
                yield value
            elif name != "reached" and extension_of(module.__name__):
                with Attributed(module.__name__):
                    raise TypeError(f"rules: {name} is no rule: (cluster: Cluster) -> Iterator[Finding]")


def findings_of(rule: Rule, cluster: Cluster, manifest: Manifest) -> Iterator[Finding]:
    """Findings of one rule; none where the section that it judges is absent, or Slurm that it requires."""
    with Attributed(rule.__module__):
        if not cluster.asks(rule.__module__):
            return
        sections = [section_for(rule, manifest)] if "section" in rule.__annotations__ else []
        records = arguments_for(rule, cluster, 1 + len(sections))
        if None in sections or records is None:
            return
        for finding in items_of(rule, Finding, cluster, *sections, *records):
            if finding.code not in CODES:
                raise LookupError(f"{rule.__name__}: there is no code {finding.code!r}")
            yield finding


def check(cluster: Cluster, manifest: Manifest, resolving: Iterable[Finding] = ()) -> list[Finding]:
    """Findings of all rules in the cluster that a manifest means, without what follows from those of its resolution."""
    from clustergen.rules.consequences import causes_only

    if extensions():
        from clustergen.cluster.extensions import check_contributions

        check_contributions(cluster)
    findings = (finding for rule in rules() for finding in findings_of(rule, cluster, manifest))
    return list(causes_only(findings, resolving))
