"""Hostile site templates, and hostile code in the process that prints them: neither reaches the machine."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.render import bounded as limits
from clustergen.render import confinement, site_template
from clustergen.render.bounded import bounded
from clustergen.render.formats import BARE, JSON
from strategies.inventories import compiled
from strategies.trees import manifest

NOBODY = 65534
PICKLE = r"cposix\nsystem\n(Vtouch {marker}\ntR."
ESCAPES = (
    "{{ cluster.slurm.parse_raw('" + PICKLE + "', proto='pickle', allow_pickle=True) }}",
    "{{ cluster.slurm.partitions[0].parse_raw('" + PICKLE + "', proto='pickle', allow_pickle=True) }}",
    "{{ cluster.slurm.parse_file('{pickle}', proto='pickle', allow_pickle=True) }}",
    "{{ cluster.slurm.parse_file('/etc/hostname') }}",
    "{{ cluster['slurm']['parse_raw']('{}') }}",
    "{% set f = cluster.slurm.parse_raw %}{{ f('{}') }}",
    "{{ [cluster.slurm] | map(attribute='parse_raw') | first }}",
    "{{ [cluster.slurm] | map('attr', 'parse_raw') | first }}",
    "{{ cluster.slurm | attr('parse_raw') }}",
    "{{ [cluster] | groupby('slurm.parse_raw') | list }}",
    "{{ [cluster.slurm] | selectattr('parse_raw') | first | rest }}",
    "{{ [cluster.slurm] | sum(attribute='parse_raw') }}",
    "{{ cluster.slurm.model_validate_json('{}') }}",
    "{{ cluster.slurm.model_copy() }}",
    "{{ cluster.slurm.construct() }}",
    "{{ cluster.slurm.model_fields.name }}",
    "{{ cluster.slurm.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ ''['__class__'] }}",
    "{{ () | map(attribute='__class__') | first }}{{ [''] | map(attribute='__class__') | first }}",
    "{{ cluster._read }}",
    "{{ cluster._read('slurm') }}",
    "{{ cluster.__init__.__globals__ }}",
    "{{ cluster.hosts._read.__globals__ }}",
    "{{ self.__init__.__globals__ }}",
    "{{ self._TemplateReference__context }}",
    "{{ range.__globals__ }}",
    "{{ range.__init__ }}",
    "{{ dict.mro() }}",
    "{{ dict.fromkeys('a') }}",
    "{{ cycler.__init__.__globals__.os.popen('touch {marker}').read() }}",
    "{{ cycler(1).next.__func__.__globals__ }}",
    "{{ cycler(1).items }}",
    "{{ joiner.__init__.__globals__ }}",
    "{{ joiner(' ').sep }}",
    "{{ lipsum.__globals__.os.popen('touch {marker}').read() }}",
    "{{ namespace.__init__.__globals__ }}",
    "{{ namespace(a=1)._Namespace__attrs }}",
    "{{ namespace(a=1).__class__ }}",
    "{% macro m() %}{% endmacro %}{{ m._func.__globals__ }}",
    "{% macro m() %}{% endmacro %}{{ m.__call__.__func__.__globals__ }}",
    "{% macro m() %}{{ caller._environment }}{% endmacro %}{% call m() %}{% endcall %}",
    "{% for x in [1] %}{{ loop._iterator }}{% endfor %}",
    "{% for x in [1] %}{{ loop.__class__ }}{% endfor %}",
    "{% for x in [1] %}{{ loop.cycle.__func__.__globals__ }}{% endfor %}",
    "{% for x, l in [1] | map('string') | list %}{{ l }}{% endfor %}",
    "{% block b %}{{ super.name }}{% endblock %}",
    "{% block b %}{{ self.b._stack }}{% endblock %}",
    "{{ missing.__class__ }}",
    "{{ (missing | default(missing)).__class__ }}",
    "{{ ''.format }}",
    "{{ '{0.__class__}'.format(cluster) }}",
    "{{ '{0.parse_raw}'.format_map({'0': cluster.slurm}) }}",
    "{{ ['{0.__class__}'] | map('format', cluster) | first }}",
    "{{ ('{0.__class__}' | escape).format(cluster) }}",
    "{{ [3, 1] | random }}",
    "{% include '../../../manifest.yaml' %}",
    "{% include '/etc/hostname' %}",
    "{% import 'os' as os %}{{ os.system('touch {marker}') }}",
    "{% from 'etc/lib' import __class__ %}",
    "{% set ns = namespace() %}{% set ns.__class__ = 1 %}{{ ns.__class__ }}",
    "{% do cluster.hosts.update({}) %}",
    "{% set cluster.name = 'b' %}",
    "{% debug %}",
    "{{ g() }}",
    "{{ request.application }}",
    "{{ config }}",
    "{{ (1).__class__ }}",
    "{{ 1 .real }}",
    "{{ cluster.os.facts.update({}) }}",
    "{{ cluster.slurm.partitions[0].max_time_minutes.bit_length() }}",
    "{{ cluster() }}",
    "{{ cluster.name() }}",
    "{{ (cluster.hosts | items)() }}",
    "{{ cluster.management_network.cidr.split('/') }}",
    "{{ cluster }}",
    "{{ cluster.hosts.all }}",
    "{{ range(3) }}",
    "{{ '' ~ range }}",
    "{{ cycler(1) | string }}",
    "{{ cycler(1) | string | upper | rest }}",
    "{{ [joiner()] | string | replace('0', 'o') | rest }}",
    "{{ [cycler(1).next] | join | truncate(30) | rest }}",
    "{{ '%r' | format(range) | upper | rest }}",
    "{{ [range] | pprint | upper | rest }}",
    "{% block x %}{{ self.x | string | upper | rest }}{% endblock %}",
    "{{ self['y'] | string | upper | rest }}{% block y %}{% endblock %}",
    "{{ namespace(a=cycler(1)) | string | upper | rest }}",
    "{{ '\\ud800' | rest }}",
)


def site(directory: Path, **templates: str) -> Path:
    """The small manifest with templates in the directory of its group `all`."""
    place = directory / "site" / "all" / "etc"
    place.mkdir(parents=True)
    for name, text in templates.items():
        (place / f"{name}.j2").write_text(text, encoding="utf-8")
    (directory / "manifest.yaml").write_text(json.dumps(manifest()), encoding="utf-8")
    return directory / "manifest.yaml"


def render(path: Path, *options: str) -> tuple[int, list[dict[str, object]], str]:
    """Exit status, diagnostics, and standard error of a render."""
    done = CliRunner().invoke(group, [*options, "render", str(path), "--format", "json"])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, json.loads(done.stdout)["diagnostics"], done.stderr


@pytest.mark.slow
def test_no_template_leaves_its_sandbox(tmp_path: Path) -> None:
    marker, pickled = tmp_path / "escaped", tmp_path / "pickle"
    pickled.write_text(f"cposix\nsystem\n(Vtouch {marker}\ntR.", encoding="ascii")
    texts = [text.replace("{marker}", str(marker)).replace("{pickle}", str(pickled)) for text in ESCAPES]
    path = site(tmp_path, harmless="{{ cluster.name }}", **{f"t{number:02}": text for number, text in enumerate(texts)})
    code, diagnostics, _ = render(path)
    assert code == 2
    failed = {Path(str(item["file"])).stem for item in diagnostics if item["code"] == "site-template-fails"}
    assert [text for number, text in enumerate(texts) if f"t{number:02}" not in failed] == []
    assert "harmless" not in failed
    assert not marker.exists()
    assert not (tmp_path / "rendered").exists()


@pytest.mark.slow
def test_one_template_costs_the_others_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each has its limits; those that end their process do not silence the others."""
    monkeypatch.setattr(limits, "SECONDS", 1)
    many = "{% for a in range(99999) %}"
    path = site(
        tmp_path,
        a="a\n{{ cluster.nmae }}",
        b=f"b\nb\n{many}{many}{many}" + "{% endfor %}" * 3,
        c="{{ 7 ** (7 ** 9) }}",  # one step of Python: no signal interrupts it
        d="{% for a in range(90) %}{{ '%1000000d' | format(1) | rest }}{% endfor %}",
        e="{{ 'x' * 400000000 }}",
        f="{{ 1 / 0 }}",
    )
    code, diagnostics, _ = render(path)
    assert code == 2
    assert [(Path(str(item["file"])).stem, item["line"], item["message"]) for item in diagnostics] == [
        ("a", 2, "Cluster has no attribute 'nmae'"),
        ("b", 3, "it requires more than 1 s of CPU time"),
        ("c", None, "it requires more than 1 s of CPU time"),
        ("d", None, "it prints more than 16 MiB"),
        ("e", 1, "it requires more than 256 MiB of memory"),
        ("f", 1, "division by zero"),
    ]


@pytest.mark.slow
def test_an_error_is_at_the_file_that_has_it(tmp_path: Path) -> None:
    path = site(
        tmp_path,
        main="{% include './parts/../part.j2' ignore missing %}\n{% include 'etc//part.j2' %}",
        part="one\n{{ cluster.nmae }}",
        syntax="{% include 'etc/wrong.j2' %}",
        wrong="\n\n{% if %}",
    )
    _, diagnostics, _ = render(path)
    places = [(Path(str(item["file"])).stem, item["line"]) for item in diagnostics]
    assert places == [("part", 2), ("wrong", 3)]  # each is reported once


@pytest.mark.slow
def test_templates_of_a_group_extend_import_and_include(tmp_path: Path) -> None:
    path = site(
        tmp_path,
        base="<{% block b %}base{% endblock %}>\n",
        child="{% extends 'etc/base.j2' %}{% import 'etc/lib.j2' as lib %}"
        "{% block b %}{{ super() }} {{ lib.m(1) }}{% endblock %}",
        lib="{% macro m(x) %}{{ x }}{% include 'etc/text' %}{% endmacro %}",
    )
    (path.parent / "site/all/etc/text").write_text("text", encoding="utf-8")
    assert render(path)[0] == 0
    assert (path.parent / "rendered/overlays/all/etc/child").read_text(encoding="utf-8") == "<base 1text>\n"


INSTEAD = {
    "{{ cluster.hosts('login') }}": ("cluster.hosts cannot be called", "write ['login'] in place of ('login')"),
    "{{ cluster.node_types[0].data_ports() }}": ("a list cannot be called", "write it without the parentheses"),
    "{{ cluster.hosts.slurm-compute }}": (
        "cluster.hosts has no attribute 'slurm'",
        "write cluster.hosts['slurm-controller'] or cluster.hosts['slurm-accounting'] or "
        "cluster.hosts['slurm-compute']",
    ),
    "{{ cluster.hosts.items() }}": (
        "cluster.hosts has no attribute 'items': templates have no methods",
        "write {% for key, value in cluster.hosts | items %}",
    ),
    "{{ cluster.slurm.get('release') }}": (
        "Slurm has no attribute 'get': templates have no methods",
        "write mapping['key'] | default(1)",
    ),
    "{{ cluster.name.upper() }}": ("a text has no attribute 'upper': templates have no methods", "write text | upper"),
    "{{ 1 if 'ab'.startswith('a') }}": (
        "a text has no attribute 'startswith': templates have no methods",
        "write text is startswith('gpu')",
    ),
    "{% set x = [] %}{{ x.append(1) }}": (
        "a list has no attribute 'append': templates have no methods",
        "write {% set names = names + [name] %}, or {% set state.names = state.names + [name] %} of a namespace",
    ),
    "{{ cluster.hosts.all.index('c1') }}": (
        "a list has no attribute 'index': templates have no methods",
        "write {% for item in list %}, and loop.index0 there",
    ),
    "{{ clster.name }}": ("'clster' is undefined", "did you mean 'cluster'?"),
    "{{ hosts.login }}": ("'hosts' is undefined", "write cluster.hosts"),
    "{{ release }}": ("'release' is undefined", "write cluster.slurm.release"),
    "{{ cluster.release }}": ("Cluster has no attribute 'release'", "write cluster.slurm.release"),
    "{{ cluster.slurm_name }}": ("Cluster has no attribute 'slurm_name'", "write cluster.slurm.cluster_name"),
    "{{ cluster.manifest }}": (
        "Cluster has no attribute 'manifest'",
        "write cluster.SECTION: `clustergen resolve` prints the sections",
    ),
    "{{ cluster.manifest.facility.pue }}": ("Cluster has no attribute 'manifest'", "write cluster.facility"),
    "{{ cluster['manifest']['nodes'][0].name }}": ("Cluster has no attribute 'manifest'", "write cluster.groups"),
    "{{ [cluster] | map(attribute='manifest.gpu') | list }}": (
        "Cluster has no attribute 'manifest'",
        "write cluster.driver_module or cluster.gpu_settings or cluster.mig_plans",
    ),
    "{{ cluster.slurm.partitions[0].spec.max_nodes }}": (
        "Partition has no attribute 'spec'",
        "write partition.max_nodes for partition.spec.max_nodes, partition.max_time_minutes for max_time",
    ),
    "{{ cluster.name | uper }}": ("there is no filter 'uper'", "did you mean 'upper'?"),
    "{{ 1 if cluster.name is startwith('a') }}": ("there is no test 'startwith'", "did you mean 'startswith'?"),
    "{% if cluster.name %}{{ cluster.name | uper }}{% endif %}": ("there is no filter 'uper'", "did you mean 'upper'?"),
    "{{ [1] | random }}": ("the filter 'random' of Jinja is not available in site templates", None),
    "{{ range(100001) | list }}": ("a range can have at most 100,000 items", None),
    "{{ cluster.slurm.keeps_books }}": (
        "True printed into a configuration file",
        "use {% if … %}, or | default('UNLIMITED', true)",
    ),
    "{{ none }}": ("None printed into a configuration file", "use {% if … %}, or | default('UNLIMITED', true)"),
    "{{ cluster.hosts.all }}": (
        "a list printed into a configuration file",
        "print its items, or use a filter, as | join(',')",
    ),
    "{{ 'a\\x1b[2K' }}": ("'a\\x1b[2K' may not stand unquoted in a configuration file", None),
}


@pytest.mark.slow
def test_errors_about_missing_functions_name_the_replacement(tmp_path: Path) -> None:
    _, diagnostics, _ = render(site(tmp_path, **{f"t{number:02}": text for number, text in enumerate(INSTEAD)}))
    answers = [(item["message"], item.get("hint")) for item in diagnostics]
    assert dict(zip(INSTEAD, answers, strict=True)) == INSTEAD


# --- The process, without the sandbox: the task is Python code of an attacker.


LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {"ptrace": 101, "readv": 310, "memfd": 319, "unshare": 272, "clone": 56, "bpf": 321},
    "aarch64": {"ptrace": 117, "readv": 270, "memfd": 279, "unshare": 97, "clone": 220, "bpf": 280},
}[os.uname().machine]


def attack(parent: int, writable: Path, without: tuple[str, ...]) -> list[str]:
    """Attempts of an attacker that succeed; calls of the kernel by number where Python has none."""

    def kernel(*arguments: int | bytes) -> None:
        if LIBC.syscall(*(ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)) < 0:
            raise OSError

    word = ctypes.create_string_buffer(8)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(word), 8)  # at the same address in the parent
    place = ctypes.addressof(vector)

    tries: dict[str, Callable[[], object]] = {
        "read a file": lambda: os.open("/etc/passwd", os.O_RDONLY),
        "write a file": lambda: os.open(writable / "file", os.O_CREAT | os.O_WRONLY),
        "make a directory": (writable / "directory").mkdir,
        "remove a file": (writable / "victim").unlink,
        "make a link": lambda: (writable / "link").symlink_to("/etc"),
        "list a directory": lambda: [*Path("/").iterdir()],
        "look at a file": Path("/etc/passwd").stat,
        "open a socket": lambda: socket.socket(),
        "open a socket of the machine": lambda: socket.socket(socket.AF_UNIX),
        "make a pipe": os.pipe,
        "fork": lambda: os.fork() or os._exit(0),
        "clone": lambda: kernel(NUMBERS["clone"], signal.SIGCHLD, 0, 0, 0, 0) or os._exit(0),
        "run a program": lambda: os.execv("/bin/true", ["true"]),
        "signal its parent": lambda: os.kill(parent, 0),
        "signal another process": lambda: os.kill(1, 0),
        "trace its parent": lambda: kernel(NUMBERS["ptrace"], 16, parent, 0, 0),
        "read its parent's memory": lambda: kernel(NUMBERS["readv"], parent, place, 1, place, 1, 0),
        "make a file in memory": lambda: kernel(NUMBERS["memfd"], b"name", 0),
        "start io_uring": lambda: kernel(425, 1, 0),
        "make namespaces": lambda: kernel(NUMBERS["unshare"], 0x10000000),
        "load a program of the kernel": lambda: kernel(NUMBERS["bpf"], 0, 0, 0),
        "raise its limits": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        "become root": lambda: os.setresuid(0, 0, 0),
        "read the environment": lambda: os.environ["HOME"],
        "read a descriptor of its parent": lambda: [os.read(number, 1) for number in range(64)],
    }
    reached = []
    for name, attempt in tries.items():
        with suppress(OSError, ValueError, LookupError):
            if name not in without:
                attempt()
                reached.append(name)
    return reached


def successes(uid: int, directory: Path, *without: str) -> list[str]:
    """Attempts that succeed for a user's confined process, whose parent has the same user; some are left out."""
    directory.mkdir(mode=0o777)
    directory.chmod(0o777)
    (directory / "victim").touch()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if uid != os.geteuid():
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
            parent = os.getpid()
            (answer,) = bounded(lambda _: json.dumps(attack(parent, directory, without)).encode(), 1)
            os.write(writing, answer if isinstance(answer, bytes) else json.dumps([str(answer)]).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as source:
        result = source.read()
    os.waitpid(child, 0)
    return list(json.loads(result))


HARMFUL = ("run a program", "clone", "trace its parent", "read a descriptor of its parent")
"""Attempts that would end or stop the test if they succeeded."""
USERS = [0, NOBODY] if os.geteuid() == 0 else [os.geteuid()]


@pytest.fixture
def public() -> Iterator[Path]:
    """A directory that does not exist, where any user may reach it."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="clustergen-test-") as directory:
        Path(directory).chmod(0o755)
        yield Path(directory) / "public"


@pytest.mark.parametrize("uid", USERS)
def test_hostile_code_reaches_nothing(public: Path, uid: int) -> None:
    assert successes(uid, public) == []
    assert [path.name for path in public.iterdir()] == ["victim"]


@pytest.mark.slow
@pytest.mark.parametrize("uid", USERS)
def test_the_attempts_succeed_where_nothing_is_confined(
    public: Path, uid: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the test above can fail."""
    monkeypatch.setattr(limits, "confine", lambda *_: "")
    reached = successes(uid, public, *HARMFUL)
    assert {"read a file", "write a file", "make a directory", "remove a file", "open a socket"} < {*reached}
    assert {"fork", "signal its parent", "list a directory", "make a file in memory", "make a pipe"} < {*reached}
    assert uid or "read its parent's memory" in reached


@pytest.mark.parametrize("uid", USERS)
def test_limits_hold_without_the_filter(public: Path, uid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a kernel that has none: no file, no socket, no process."""
    monkeypatch.setattr(confinement, "SYSTEM_CALLS", {})
    reached = {*successes(uid, public, *HARMFUL)}
    assert not reached & {"read a file", "write a file", "list a directory", "open a socket", "fork", "clone"}
    assert not reached & {"make a file in memory", "make a pipe", "raise its limits", "become root"}
    assert uid or not reached & {"signal its parent", "trace its parent", "read its parent's memory"}


@pytest.mark.slow
def test_a_refused_filter_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confinement, "SYSTEM_CALLS", {})
    path = site(tmp_path, t="{{ cluster.name }}")
    code, _, errors = render(path, "-v")
    assert code == 0
    assert "templates run without a filter of system calls: clustergen has no filter for" in errors
    monkeypatch.undo()
    assert "a filter of" not in render(path, "-v")[2]


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (lambda _: os._exit(0), "it requires more than 256 MiB of memory"),
        (lambda _: ctypes.string_at(0), "its process was ended by SIGSEGV: its recursion is too deep"),
        (lambda _: b"x" * (limits.LARGEST + 1), "it prints more than 16 MiB"),
        (lambda _: signal.pause(), "it has no result after 1 s"),
    ],
)
def test_a_task_that_ends_or_holds_its_process(
    task: Callable[[int], bytes], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SECONDS", 1)
    monkeypatch.setattr(limits, "_PATIENCE", 1)
    monkeypatch.setattr(confinement, "SYSTEM_CALLS", {})  # a pause is a system call
    before, result, after = bounded(lambda number: task(number) if number == 1 else b"text", 3)
    assert (before, str(result), after) == (b"text", message, b"text")


@pytest.mark.slow
def test_all_tasks_together_have_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LARGEST_OF_ALL", 5 << 20)
    *texts, first, last = bounded(lambda _: bytes(2 << 20), 4)
    assert [len(text) for text in texts if isinstance(text, bytes)] == [2 << 20, 2 << 20]
    assert str(first) == str(last) == "all templates together print more than 5 MiB"

    def computes(number: int) -> bytes:
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        if number == 0:
            os._exit(0)  # the limit is one of all processes
        return b"text"

    monkeypatch.setattr(limits, "SECONDS_OF_ALL", 1)
    *answers, last = bounded(computes, 9)
    assert answers[1] == b"text"
    assert str(last) == "all templates together require more than 1 s of CPU time"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{% include cluster %}", "Cluster is not the name of a template"),
        ("{% include [x] %}", "'x' is undefined"),
        ("{% include [1] %}", "a number is not the name of a template"),
        ("{% extends none %}", "None is not the name of a template"),
        ("{% import cluster.hosts as x %}", "cluster.hosts is not the name of a template"),
        ("{{ 1e999 }}", "infinity is no number that a file can contain"),
        ("{{ 1e308 * cluster.host_count * 10 }}", "inf is no number that a file can contain"),
        ("{{ [1e308 * cluster.host_count * 10] | yaml }}", "infinity or NaN is no number that a file can contain"),
        ("{% set x = 1e308 * cluster.host_count * 10 %}{{ x - x }}", "nan is no number that a file can contain"),
        ("{{ [1e308 * cluster.host_count * 10] | tojson | rest }}", "Out of range float values are not JSON compliant"),
        ("{{ cycler(1) | string }}", "a cycler is no value that can be printed or become a text"),
    ],
)
def test_actions_that_a_template_cannot_perform(text: str, message: str) -> None:
    template = site_template.SiteTemplate("a.j2", {"a.j2": text.encode()}, JSON)
    (result,) = site_template.print_site_templates([template], compiled("home-3090")[0].cluster)  # type: ignore[arg-type]
    assert isinstance(result, site_template.Failure)
    assert result.message.startswith(message)


@pytest.mark.slow
def test_a_message_shows_no_secret_of_a_template(tmp_path: Path) -> None:
    path = site(
        tmp_path,
        **{"x.service": '{{ "password=hunter2xyz99 $" }}\n', "main.conf": '{% set x = "api_key: hunter2xyz99\\t" %}\n'},
        outer="""{% set x = "passwd: hunter2xyz99\\t" %}{% include 'etc/part.j2' %}""",
        part="{{ x | default('none') }}",
    )
    with (path.parent / "site/all/etc/main.conf.j2").open("a", encoding="utf-8") as file:
        file.write("{{ x }}\n")
    done = CliRunner().invoke(group, ["render", str(path)])
    assert done.exit_code == 2
    assert done.output.count("site-template-fails") == 3
    assert "may not stand unquoted" in done.output
    assert "hunter2" not in done.output
    assert "hunter2" not in CliRunner().invoke(group, ["render", str(path), "--format", "json"]).output


@pytest.mark.parametrize("answer", [b"", b"F", b"F[]", b"F" + b"[" * 100_000, b'F["m", "n", "x", null]', b"\x80pickle"])
def test_an_answer_of_a_hostile_process_is_checked(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_template, "_answer", lambda *_: answer)
    template = site_template.SiteTemplate("a.j2", {"a.j2": b""}, BARE)
    (result,) = site_template.print_site_templates([template], compiled("home-3090")[0].cluster)  # type: ignore[arg-type]
    assert result == site_template.Failure("its process has no valid answer", "a.j2")


def test_an_answer_names_no_other_file(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = b"F" + json.dumps(["\x1b[2Km", "../../secret", 3, None]).encode()
    monkeypatch.setattr(site_template, "_answer", lambda *_: answer)
    template = site_template.SiteTemplate("a.j2", {"a.j2": b""}, BARE)
    (result,) = site_template.print_site_templates([template], compiled("home-3090")[0].cluster)  # type: ignore[arg-type]
    assert result == site_template.Failure("\u241b[2Km", "a.j2", 3)


def test_only_the_sandbox_evaluates_text_of_a_site() -> None:
    """Jinja is used for the templates of clustergen and, in the sandbox, for those of a site."""
    package = Path(confinement.__file__).parents[1]
    users = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if "jinja2" in path.read_text()}
    site = {f"render/site_{name}.py" for name in ("environment", "objects", "template")}
    assert users == {"render/engine.py", *site}
    assert "from_string" not in (package / "render/engine.py").read_text(encoding="utf-8")
