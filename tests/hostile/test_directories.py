"""Untrusted directories: lint and import stay within time and memory, and read nothing outside."""

from __future__ import annotations

import os
import re
import resource
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError

HEAD = "ClusterName=c\nSlurmctldHost=ctl\nSlurmUser=slurm\nStateSaveLocation=/var/spool/slurmctld\n"
NODES = "NodeName=n[1-2] CPUs=4 RealMemory=1000\nPartitionName=p Nodes=ALL Default=YES\n"
SECRET = "root:$6$not-for-others"
CPU_S = 20
MEMORY = 500 << 20
MANY = 5_000  # lines
CRASHED = 99


def conf(text: str, **files: str) -> Callable[[Path], None]:
    """slurm.conf with a text behind the usual lines, and further files (`topology_yaml`)."""

    def make(place: Path) -> None:
        (place / "slurm.conf").write_bytes((HEAD + text).encode("utf-8", "surrogateescape"))
        for name, content in files.items():
            (place / name.replace("_", ".")).write_bytes(content.encode("utf-8", "surrogateescape"))

    return make


def link(name: str, text: str, to: str = "outside") -> Callable[[Path], None]:
    """A link out of the directory, and a slurm.conf that names it."""

    def make(place: Path) -> None:
        conf(text + NODES)(place)
        (place / name).unlink(missing_ok=True)
        (place / name).symlink_to(place.parent / "elsewhere" / to)

    return make


def special(name: str, text: str = "") -> Callable[[Path], None]:
    """A pipe where a file is expected."""

    def make(place: Path) -> None:
        conf(text + NODES)(place)
        (place / name).unlink(missing_ok=True)
        os.mkfifo(place / name)

    return make


def sparse(name: str, size: int) -> Callable[[Path], None]:
    def make(place: Path) -> None:
        conf(NODES)(place)
        with (place / name).open("ab") as file:
            file.truncate(size)

    return make


def named(name: bytes, text: str = "x\n") -> Callable[[Path], None]:
    def make(place: Path) -> None:
        conf(NODES)(place)
        (place / os.fsdecode(name)).write_text(text)

    return make


def looped(place: Path) -> None:
    (place / "slurm.conf").symlink_to("gres.conf")
    (place / "gres.conf").symlink_to("slurm.conf")


def scripts(place: Path) -> None:
    conf("Prolog=/etc/slurm/prolog.d/*\nEpilog=/etc/slurm/../../etc/passwd\n" + NODES)(place)
    (place / "prolog.d").mkdir()
    (place / "prolog.d/1").symlink_to(place.parent / "elsewhere/outside")
    os.mkfifo(place / "prolog.d/2")


def includes(place: Path) -> None:
    """Ten files that each include all others ten times."""
    names = [f"i{number}.conf" for number in range(10)]
    conf("".join(f"Include {name}\n" for name in names) + NODES)(place)
    for name in names:
        (place / name).write_text("".join(f"Include {other}\n" for other in names if other != name) * 10)


def spank(place: Path) -> None:
    conf(NODES, plugstack_conf="include plugstack.conf.d/*\n")(place)
    (place / "plugstack.conf.d").mkdir()
    for number in range(30):
        (place / f"plugstack.conf.d/{number}.conf").write_text("include plugstack.conf.d/*\n" * 5)


BOMB = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + level)}: &{chr(98 + level)} [{','.join(['*' + chr(97 + level)] * 10)}]\n" for level in range(9)
)
BIG = "9" * 5000
TREE = "TopologyPlugin=topology/tree\n"
SWITCH = "    - switch: s{}\n      nodes: a{}-[1-60000]\n"
SWITCHES = "- topology: t\n  tree:\n    switches:\n"


def each(line: str) -> str:
    """300 lines, each with its number in the place of the braces."""
    return "".join(line.replace("{}", str(number)) for number in range(300))


CASES: dict[str, Callable[[Path], None]] = {
    "a YAML bomb": conf(NODES + "TopologyPlugin=topology/tree\n", topology_yaml=BOMB),
    "a YAML bomb in a list": conf(NODES, topology_yaml=f"- topology: t\n{BOMB}"),
    "deep YAML": conf(NODES, topology_yaml="[" * 200_000),
    "deep block YAML": conf(NODES, topology_yaml="".join("  " * n + "- a:\n" for n in range(1500))),
    "a YAML that contains itself": conf(NODES, topology_yaml="&a [*a]\n"),
    "YAML of tags": conf(NODES, topology_yaml="- !!python/object/apply:os.system [id]\n"),
    "a link to a secret": link("shadow", "Include shadow\n"),
    "a link of the same name": link("slurm.conf", "", to="slurm.conf"),
    "a topology that is a link": link("topology.yaml", ""),
    "a plugstack that is a link": link("plugstack.conf", ""),
    "a gres.conf that is a link": link("gres.conf", "GresTypes=gpu\n"),
    "a link to a device": link("zero", "Include zero\n", to="/dev/zero"),
    "links in a circle": looped,
    "a pipe as slurm.conf": special("slurm.conf"),
    "a pipe as gres.conf": special("gres.conf"),
    "a pipe that is included": special("pipe", "Include pipe\n"),
    "a pipe as topology.yaml": special("topology.yaml"),
    "scripts that are links and pipes": scripts,
    "files that include one another": includes,
    "SPANK files that include one another": spank,
    "a file that includes itself": conf("Include slurm.conf\n" * 100),
    "absolute and climbing includes": conf("Include /etc/shadow\nInclude ../../etc/shadow\n" + NODES),
    "8 GiB of nothing": sparse("slurm.conf", 8 << 30),
    "8 GiB of gres.conf": sparse("gres.conf", 8 << 30),
    "8 GiB of topology.yaml": sparse("topology.yaml", 8 << 30),
    "a name with a newline": named(b"a\nb.conf"),
    "a name that is not UTF-8": named(b"\xff\xfe.conf"),
    "a name with an escape": named(b"\x1b[2J.lua"),
    "a name with a C1 control": named("\x9b2J.conf".encode()),
    "a name that turns the line round": named("\u202erid.conf".encode()),
    "a value that turns the line round": conf(NODES + "MailDomain=\u202e\x9b2Jx\n"),
    "bytes of all kinds": conf(bytes(range(256)).decode("latin-1") * 50 + "\n" + NODES),
    "a NUL in every line": conf("A\0=\0\n" * 1000 + NODES),
    "numbers of 5,000 digits": conf(f"MaxJobCount={BIG}\nNodeName=n1 CPUs={BIG} Gres=gpu:{BIG} Weight={BIG}\n"),
    "a host list of billions": conf("NodeName=n[0-99999999]\nNodeName=m[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]\n"),
    "a range of 5,000 digits": conf(f"NodeName=n[0-{BIG}]\nNodeName=m{BIG}\n"),
    "unknown keys": conf("".join(f"Key{number}=1\n" for number in range(MANY)) + NODES),
    "unknown words": conf("SlurmctldParameters=" + ",".join(f"w{n}" for n in range(MANY)) + "\n" + NODES),
    "one key again and again": conf("SlurmdTimeout=300\n" * MANY + NODES),
    "DEFAULT lines": conf("NodeName=DEFAULT CPUs=4\n" * MANY + NODES),
    "DEFAULT lines between nodes": conf("".join(f"NodeName=DEFAULT CPUs=4\nNodeName=m{n}\n" for n in range(MANY // 2))),
    "one line of 300 kB": conf("NodeName=" + "n1," * 100_000 + "n2\n"),
    "a continued line without an end": conf("NodeName=n1 \\\n" + " CPUs=4 \\\n" * MANY),
    "parentheses that are never closed": conf("NodeName=n1 CPUs=4 Gres=" + "gpu(" * 40_000 + "\n"),
    "quotes and brackets": conf('NodeName="[[[[' + "[" * 5000 + "\nPartitionName=" + '"' * 5000 + "\n"),
    "18 million nodes": conf("".join(f"NodeName=a{n}-[1-60000] CPUs=1\n" for n in range(300))),
    "more lines than any slurm.conf": conf("x\n" * 300_000),
    "18 million names in gres.conf": conf(NODES, gres_conf=each("NodeName=a{}-[1-60000] Name=gpu\n")),
    "18 million nodes of partitions": conf(NODES + each("PartitionName=q{} Nodes=a{}-[1-60000]\n")),
    "18 million nodes of node sets": conf(NODES + each("NodeSet=s{} Nodes=a{}-[1-60000]\n")),
    "18 million partitions": conf(NODES + each("PartitionName=q{}-[1-60000] Nodes=n1\n")),
    "18 million nodes of switches": conf(NODES + TREE, topology_conf=each("SwitchName=s{} Nodes=a{}-[1-60000]\n")),
    "18 million switches": conf(NODES + TREE, topology_conf=each("SwitchName=s{} Switches=a{}-[1-60000]\n")),
    "18 million nodes in YAML": conf(
        NODES, topology_yaml=SWITCHES + each("    - {{switch: s{}, nodes: 'a{}-[1-60000]'}}\n")
    ),
    "one DEFAULT list for all partitions": conf(
        "NodeName=n[1-60000]\nPartitionName=DEFAULT Nodes=n[1-60000]\n" + each("PartitionName=q{}\n")
    ),
    "one long DEFAULT value for all nodes": conf(
        f"NodeName=DEFAULT Gres={'gpu:a:1,' * 100_000}\n" + each("NodeName=m{} CPUs=1\n")
    ),
    "a Gres of 100,000 items": conf(
        "GresTypes=gpu\nNodeName=n1 Gres=" + ",".join(f"gpu:t{n}:1" for n in range(100_000))
    ),
    "a megabyte of commas": conf(NODES + f"PartitionName=q Nodes={'n1,,' * 250_000}n2\n"),
}
"""Commands that make the directory."""


@pytest.fixture(scope="module", autouse=True)
def _modules_and_catalogue(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Loads them once, so that no forked process does it again."""
    place = tmp_path_factory.mktemp("whole")
    conf(NODES)(place)
    for verb in ("lint", "import"):
        CliRunner().invoke(group, [verb, str(place)])


def bounded(command: list[str]) -> tuple[int, str]:
    """Exit code and output of a command in a process that may use 20 s of CPU and 500 MB more than this one."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        done = CliRunner().invoke(group, command)
        code = getattr(done.exception, "exit_code", None) or done.exit_code
        crashed = not (done.exception is None or isinstance(done.exception, SystemExit | ClustergenError))
        with os.fdopen(writing, "wb") as out:
            out.write(f"{done.output}{done.exception!r}".encode("utf-8", "replace")[: 4 << 20])
        os._exit(CRASHED if crashed else code)
    os.close(writing)
    with os.fdopen(reading, "rb") as source:
        output = source.read().decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), output


FIX = [*list(CASES)[::2], *(case for case in CASES if "link" in case)]
"""Cases of `lint --fix`, which first lints as `lint` does."""


@pytest.mark.many
@pytest.mark.slow
@pytest.mark.parametrize("verb", ["lint", "import"])
@pytest.mark.parametrize("case", CASES)
def test_a_hostile_directory(case: str, verb: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name in ("outside", "slurm.conf"):
        (tmp_path / "elsewhere" / name).write_text(f"ClusterName=c\n{SECRET}\n")
    place = tmp_path / "handed-over"
    place.mkdir()
    CASES[case](place)
    options = ["--fix"] if verb == "lint" and case in FIX else []
    code, output = bounded([verb, str(place), *options])
    assert code in (0, 1, 2, 3), (code, output[-2000:])
    assert SECRET not in output
    assert not re.search("[\x1b\x7f-\x9f\u202a-\u202e]", output)
    assert (tmp_path / "elsewhere/slurm.conf").read_text() == f"ClusterName=c\n{SECRET}\n"


UNREADABLE = ("slurm.conf", "gres.conf", "cgroup.conf", "slurmdbd.conf", "topology.yaml")


@pytest.mark.many
@pytest.mark.parametrize("verb", ["lint", "import"])
@pytest.mark.parametrize("name", UNREADABLE)
@pytest.mark.parametrize("kind", [special, link], ids=["pipe", "dangling link"])
def test_unreadable_files_are_reported(
    kind: Callable[[str, str], Callable[[Path], None]], name: str, verb: str, tmp_path: Path
) -> None:
    """`ls` shows the file, so nothing may be judged as if it were absent."""
    kind(name, "GresTypes=gpu\n")(tmp_path)
    code, output = bounded([verb, str(tmp_path)])
    assert code == 3
    assert str(tmp_path / name) in output
    assert "no gres.conf" not in output
    assert "the same meaning" not in output


@pytest.mark.parametrize("verb", ["lint", "import"])
def test_a_path_of_links_in_a_circle(verb: str, tmp_path: Path) -> None:
    (tmp_path / "L").symlink_to("L")
    code, output = bounded([verb, str(tmp_path / "L")])
    assert code == 3
    assert f"{tmp_path / 'L'}: its symbolic links form a loop" in output


def test_lint_looks_for_etc_slurm_inside_only(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/slurm.conf").write_text(f"{SECRET}\n")
    (tmp_path / "handed-over/etc").mkdir(parents=True)
    (tmp_path / "handed-over/etc/slurm").symlink_to(tmp_path / "outside")
    code, output = bounded(["lint", str(tmp_path / "handed-over")])
    assert code == 3
    assert SECRET not in output
    assert "contains neither slurm.conf" in output
