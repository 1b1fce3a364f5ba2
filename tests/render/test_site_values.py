"""Values that a site's template sees: by name, and nothing that can be called but Jinja's own objects."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, Undefined, UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from pydantic import BaseModel

from clustergen import compile as compiler
from clustergen.cluster.model import Cluster
from clustergen.cluster.named_rows import Configurations
from clustergen.cluster.resolve import record_types, section_name
from clustergen.manifest.model import Manifest
from clustergen.manifest.source import load
from clustergen.render.formats import BARE, Format
from clustergen.render.site_environment import SiteEnvironment
from clustergen.render.site_template import Failure, SiteTemplate, print_site_templates
from clustergen.render.site_values import ROLES, Values, names_of_cluster, plain
from strategies.inventories import MANIFESTS

PAGE = Path(__file__).parents[2] / "docs" / "site-files.md"
ANYTHING = Format("test", None, re.compile(".*", re.DOTALL))
DATA = (bool, int, float, str, tuple, list, dict, range, type(None))
SCALARS = (bool, int, float, str, type(None))
CALLABLES = {
    "range": "of at most 100,000 numbers",
    "dict": "makes a mapping of values",
    "Namespace": "holds values that a loop sets",
    "Cycler": "gives its own arguments in turns",
    "Cycler.next": "the same",
    "Cycler.reset": "the same",
    "Joiner": "gives its own argument",
    "Macro": "runs a part of the template, and so do a caller and a block",
    "BlockReference": "the same",
    "LoopContext": "the same, in a recursive loop",
    "LoopContext.cycle": "gives one of its arguments",
    "LoopContext.changed": "compares its argument with the last",
}
"""Callables of a template → the reason."""
OBJECTS = {"TemplateModule", "TemplateReference", "Namespace", "Cycler", "_GroupTuple"}
"""Objects that are not called and are no values: a module of macros, `self`, and what holds values."""
EVERYTHING_OF_JINJA = """
{% import 'macros.j2' as macros %}
{% macro m(a) %}{{ caller | take }}{{ varargs | take }}{{ kwargs | take }}{% endmacro %}
{% call m(1, 2, b=3) %}{% endcall %}
{% for x in [[1], [2]] recursive %}{{ loop | take }}{% endfor %}
{{ m | take }}{{ macros | take }}{{ self | take }}{{ namespace(a=1) | take }}{{ cycler(1, 2) | take }}
{{ joiner() | take }}{{ [{'a': 1}] | groupby('a') | take }}{{ range(3) | take }}{{ {'a': 1}['b'] | default(1) | take }}
{% block b %}{{ self.b | take }}{% endblock %}
"""


OTHERS = sorted({*MANIFESTS} - {"ml-training", "dgx-a100-mig"})
SOME = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in ("ml-training", "dgx-a100-mig") else pytest.mark.long)
        for name in MANIFESTS
    ],
)


@cache
def cluster(name: str) -> Cluster:
    result = compiler.validate(MANIFESTS[name]).cluster
    assert result is not None
    return result


def name_of(value: Any) -> str:
    """Of a callable: `Macro`, `Cycler.next`."""
    return {"Range": "range"}.get(name := getattr(value, "__qualname__", type(value).__name__), name)


def walk(environment: Environment, *roots: object, most: int = 100_000) -> Iterator[tuple[str, Any]]:
    """Path and value of everything that a template reaches from the roots by `.name` and `[item]`."""
    kept: dict[int, object] = {}
    kinds: set[type] = set()
    paths = [(type(root).__name__, root) for root in roots]
    while paths and len(kept) < most:
        path, value = paths.pop()
        kind = type(value)
        if id(value) in kept or (kind in kinds and kind in SCALARS) or isinstance(value, Undefined):
            continue
        kept[id(value)] = value
        yield path, value
        names = [] if kind in kinds and kind in (Values, *DATA) else dir(value)  # the names of a kind are the same
        items = (
            [*value] if isinstance(value, Mapping) else [*range(-1, 4), slice(0, 1)] if kind not in kinds else range(4)
        )
        kinds.add(kind)
        for name in [*names, *items]:
            for look_up in (environment.getattr, environment.getitem):
                with suppress(Exception):  # a template would fail
                    paths.append((f"{path}.{name}", look_up(value, name)))


def environment(taken: list[Any] | None = None) -> SiteEnvironment:
    made = SiteEnvironment({"macros.j2": b"{% macro n() %}{% endmacro %}{% set text = 'a' %}"}, ANYTHING)
    if taken is not None:
        made.filters["take"] = lambda value: taken.append(value) or ""  # type: ignore[func-returns-value]
    return made


def forbidden(values: Iterator[tuple[str, Any]]) -> list[str]:
    """Objects that are neither a value nor listed."""
    return [
        f"{path}: {type(value).__name__} {name_of(value)}"
        for path, value in values
        if not (
            (type(value) is Values or type(value) in DATA)
            or (callable(value) and name_of(value) in CALLABLES)
            or (not callable(value) and type(value).__name__ in OBJECTS)
        )
    ]


@pytest.mark.slow
@SOME
def test_a_cluster_is_values(name: str) -> None:
    reached = list(walk(environment(), plain(cluster(name))))
    assert len(reached) > 1000
    assert not [path for path, value in reached if callable(value)]
    assert not forbidden(iter(reached))
    assert not [path for path, value in reached if " object at 0x" in str(value)]


def test_a_template_calls_listed_objects_of_jinja_alone() -> None:
    taken: list[Any] = []
    made = environment(taken)
    made.from_string(EVERYTHING_OF_JINJA).render()
    reached = list(walk(made, *taken, *made.globals.values(), "text", 1, 1.5, None, True, (1,), [1], {"a": 1}))
    assert not forbidden(iter(reached))
    assert {name_of(value) for _, value in reached if callable(value)} == set(CALLABLES)


@pytest.mark.slow
def test_the_walk_finds_what_a_template_must_not_reach() -> None:
    """The sandbox of Jinja alone, and a model of pydantic's, as they were before: a function that unpickles."""
    manifest = Manifest.model_validate(compiler.frozen(load(MANIFESTS["home-3090"]).data))
    unpickles = BaseModel.parse_raw.__qualname__
    before = walk(ImmutableSandboxedEnvironment(), manifest, most=300)
    assert unpickles in [name_of(value) for _, value in before if callable(value)]
    assert not [path for path, value in walk(environment(), manifest) if value is not manifest]


def test_a_filter_gives_values_and_no_iterator() -> None:
    made = environment()
    samples: tuple[Any, ...] = ("a b", 3, 1.5, (2, 1), ({"a": 1}, {"a": 2}), {"b": 1}, plain({"c": (1,)}))
    results: list[tuple[str, object]] = []
    context = made.from_string("").new_context()
    for name in made.filters:
        for sample in samples:
            for arguments in ((), ("a",), (2,), ("upper",), ("a", "b")):
                with suppress(Exception):  # not all take each of them
                    results.append((name, made.call_filter(name, sample, list(arguments), context=context)))
    assert {name for name, _ in results} == set(made.filters)
    wrong = [f"{name}: {value!r}" for name, value in results if not isinstance(value, (Values, *DATA))]
    assert not wrong
    for name in made.tests:
        for arguments in ((), (1,), ([1],)):
            with suppress(Exception):
                assert type(made.call_test(name, 1, list(arguments), context=context)) is bool, name


def printed(name: str, *texts: str, form: Format = BARE) -> list[bytes | Failure]:
    files = {f"{number}.j2": text.encode() for number, text in enumerate(texts)}
    return print_site_templates([SiteTemplate(path, files, form) for path in files], cluster(name))


@pytest.mark.slow
@SOME
def test_the_confined_process_can_compute_each_value(name: str) -> None:
    """Without files: no property of a cluster reads the catalogue when it is first asked."""
    walker = """{%- macro walk(x) %}{% if x is mapping %}{% for k in x %}{{ walk(x[k]) }}{% endfor %}
    {%- elif x is string or x is number or x is none or x is boolean %}.
    {%- else %}{% for y in x %}{{ walk(y) }}{% endfor %}{% endif %}{% endmacro %}{{ walk(cluster) | trim | length }}"""
    (text,) = printed(name, walker)
    assert isinstance(text, bytes), text
    assert int(text) > 1000


@pytest.mark.slow
def test_filters_and_tests_work_in_the_confined_process(tmp_path: Path) -> None:
    """Without files: what Jinja imports late was imported before, and not by this test's process."""
    arguments = {
        "batch": "2",
        "slice": "2",
        "map": "'upper'",
        "groupby": "0",
        "dictsort": "",
        "format": "1",
        "indent": "2",
        "replace": "'a', 'b'",
        "reject": "'none'",
        "select": "'string'",
        "wordwrap": "3",
        "yaml_block": "2",
        "rejectattr": "'a'",
        "selectattr": "'a'",
        "yaml_folded": "2",
        "truncate": "3",
        "round": "1",
        "split": "','",
    }
    values = {
        **dict.fromkeys(("abs", "filesizeformat", "round", "float", "int"), "1.5"),
        **dict.fromkeys(("dictsort", "items", "values", "xmlattr", "urlencode"), "{'a': 'b c'}"),
        **dict.fromkeys(("rejectattr", "selectattr"), "[{'a': 1}]"),
        **dict.fromkeys(("max", "min", "sum", "unique"), "[1, 2]"),
        "format": "'%s'",
    }
    lines = []
    for name in environment().filters:
        call = f"{name}({arguments[name]})" if name in arguments else name
        lines.append(f"{{{{ ({values.get(name, repr('a b, c'))}) | {call} | string | length }}}}")
    lines.append("{{ '\\u00e9\\x41' | length }}")
    directory = tmp_path / "site" / "all"
    directory.mkdir(parents=True)
    for number, line in enumerate(lines):
        (directory / f"{number}.j2").write_text(line, encoding="utf-8")
    (tmp_path / "manifest.yaml").write_text(MANIFESTS["home-3090"].read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, "-m", "clustergen", "render", str(tmp_path / "manifest.yaml")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stdout


@pytest.mark.slow
def test_names_are_those_of_the_cluster() -> None:
    resolved = cluster("ml-training")
    (text,) = printed(
        "ml-training",
        "{{ cluster.name }} {{ cluster.host_count }} {{ cluster.gpu_count }} {{ cluster.slurm.release }}\n"
        "{{ cluster.hosts['slurm-controller'] | join(' ') }} {{ cluster.folded.login }}\n"
        "{{ cluster.hosts.all | length }} {{ cluster.hosts['drained'] | default('none') }}\n"
        "{{ cluster.groups[0].type.data_ports | length }} {{ cluster.groups[0].has.login | int }}\n"
        "{{ cluster.with_role.login | map(attribute='folded') | join }} {{ cluster.slurm.partitions[0].nodes }}\n"
        "{{ cluster.slurm.partitions[0].hosts | first }} {{ cluster.address[cluster.hosts.login[0]] }}\n"
        "{{ cluster.os.fact.chrony_conf }} {{ cluster.os.packages.slurmd | join(' ') }}\n",
    )
    login = resolved.with_role("login")
    first = resolved.groups[0]
    assert isinstance(text, bytes), text
    assert text.decode().splitlines() == [
        f"{resolved.name} {resolved.host_count} {resolved.gpu_count} {resolved.slurm.release}",
        f"{' '.join(resolved.slurm.controllers)} {resolved.folded('login')}",
        f"{len(resolved.hosts())} none",
        f"{len(first.type.data_ports())} {int(first.has('login'))}",
        f"{''.join(group.folded for group in login)} {resolved.slurm.partitions[0].nodes}",
        f"{plain(resolved.slurm.partitions[0].hosts)[0]} {resolved.address[login[0].hosts[0]]}",  # type: ignore[index]
        f"{resolved.os.fact('chrony_conf')} {' '.join(resolved.os.packages('slurmd'))}",
    ]


@pytest.mark.slow
def test_functions_of_jinja_work() -> None:
    (text,) = printed(
        "home-3090",
        "{% set ns = namespace(sum=0) %}{% for n in range(4) %}{% set ns.sum = ns.sum + n %}{% endfor %}{{ ns.sum }}\n"
        "{% set turn = cycler('a', 'b') %}{% set comma = joiner(',') %}"
        "{% for n in [1, 2, 3] %}{{ comma() }}{{ turn.next() }}{{ loop.index }}{{ loop.cycle('x', 'y') }}"
        "{% if loop.last %}!{% endif %}{% endfor %}\n"
        "{% for node in [{'n': 1, 'in': [{'n': 2, 'in': []}]}] recursive %}"
        "({{ node.n }}{{ loop(node['in']) }}){% endfor %}\n"
        "{% macro box(obj, context=2) %}[{{ obj }}{{ context }}{{ caller() }}]{% endmacro %}"
        "{% call box(obj=1) %}in{% endcall %}\n"
        "{% for g in [{'k': 'x', 'v': 1}, {'k': 'x', 'v': 2}] | groupby('k') %}"
        "{{ g.grouper }}{{ g.list | sum('v') }}{% endfor %}\n"
        "{{ 'a,b' | split(',') | map('upper') | join('-') }} {{ dict(a=1).a }} {{ ('gpu' is startswith('g')) | int }}\n"
        "{{ [{'a': 1}, {'a': 2}] | selectattr('a', 'gt', 1) | length }} {{ {'x': 1} | items | first | join('=') }}\n"
        "{{ (cluster.management_network | yaml | length > 9) | int }}\n",
        form=ANYTHING,
    )
    assert isinstance(text, bytes), text
    assert text.decode().splitlines() == ["6", "a1x,b2y,a3x!(1(2))[12in]x3A-B 1 1", "1 x=1", "1"]


def test_a_quantity_is_the_number_that_resolve_prints() -> None:
    name = next(key for key in MANIFESTS if "a6000x2" in cluster(key).of(Configurations).of_type)
    (text,) = printed(name, "{{ cluster.configurations.of_type.a6000x2.memory_bytes / 1024 }}\n")
    stated = cluster(name).of(Configurations).of_type["a6000x2"].memory
    assert stated is not None
    assert text == f"{stated.value / 1024}\n".encode()
    assert "memory" not in plain(cluster(name).of(Configurations).of_type["a6000x2"])


@pytest.mark.parametrize("section", sorted(Manifest.model_fields.keys() - {"schema_version", "extends"}))
def test_a_section_of_the_manifest_has_a_place_in_the_cluster(section: str) -> None:
    """Templates of earlier versions read `cluster.manifest`."""
    with pytest.raises(UndefinedError) as caught:
        environment().from_string(f"{{{{ cluster.manifest.{section}.x }}}}").render(cluster=plain(cluster("home-3090")))
    names = re.findall(r"cluster\.(\w+)", getattr(caught.value, "hint", ""))
    assert names, caught.value
    assert set(names) <= set(names_of_cluster())


def test_only_what_is_read_is_computed() -> None:
    computed: list[str] = []

    def read(name: str) -> str:
        computed.append(name)
        return name

    values = Values("values", ("a", "b"), read)
    assert [values["a"], values["a"], list(values), len(values)] == ["a", "a", ["a", "b"], 2]
    assert computed == ["a"]
    with pytest.raises(KeyError):
        values["c"]


def test_the_page_lists_what_a_template_sees() -> None:
    """Each table below the heading names a kind of value, and its first column all names that this kind has."""
    section = PAGE.read_text(encoding="utf-8").partition("## What a template sees")[2].partition("\n## ")[0]
    resolved = cluster("ml-training")
    sections = {section_name(record) for record in record_types()} - set(
        dir(Cluster)
    )  # those that docs/cluster.md lists
    kinds: dict[str, Callable[[], object]] = {
        "cluster": lambda: resolved,
        "group": lambda: resolved.groups[0],
        "type": lambda: resolved.node_types[0],
        "slurm": lambda: resolved.slurm,
        "partition": lambda: resolved.slurm.partitions[0],
    }
    for kind, example in kinds.items():
        listed = set(re.findall(rf"`{kind}\.(\w+)`", section))
        values = plain(example())
        assert isinstance(values, Values)
        assert listed == set(values) - (sections if kind == "cluster" else set()), kind
    assert set(re.findall(r"`([a-z-]+)`", section.partition("A role is one of")[2].partition(".")[0])) == set(ROLES)
