"""Include, followed the way Slurm follows it."""

import os
from pathlib import Path

from clustergen.slurmconf import Line
from clustergen.slurmconf.directory import open_directory


def directory(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        path = tmp_path / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def read(place: Path) -> list[Line]:
    config = open_directory(place, lambda _: None).config("slurm.conf")
    assert config is not None
    return list(config.lines)


def seen(lines: list[Line]) -> list[tuple[str, str]]:
    return [(line.file, line.include or f"{line.pairs[0].key}={line.pairs[0].value}") for line in lines]


def trouble(lines: list[Line]) -> list[tuple[str, int, str, str | None]]:
    return [(line.file, line.number, problem.message, problem.hint) for line in lines for problem in line.problems]


def test_lines_in_the_order_in_which_slurm_sees_them(tmp_path: Path) -> None:
    place = directory(
        tmp_path,
        slurm_conf="A=1\nInclude nodes.conf\nB=2\nInclude /etc/slurm/more/x.conf\n",
        nodes_conf="NodeName=n1\n",
        more__x_conf="C=3\nInclude nodes.conf\n",
    )
    lines = read(place)
    assert seen(lines) == [
        ("slurm.conf", "A=1"),
        ("slurm.conf", "nodes.conf"),
        ("nodes.conf", "NodeName=n1"),
        ("slurm.conf", "B=2"),
        ("slurm.conf", "/etc/slurm/more/x.conf"),
        ("/etc/slurm/more/x.conf", "C=3"),
        ("/etc/slurm/more/x.conf", "nodes.conf"),
        ("nodes.conf", "NodeName=n1"),
    ]
    assert not trouble(lines)


def test_the_cluster_name_in_a_file_name(tmp_path: Path) -> None:
    place = directory(tmp_path, slurm_conf="ClusterName=Big\nInclude %c.conf\n", big_conf="A=1\n")
    assert seen(read(place))[-1] == ("big.conf", "A=1")
    place = directory(tmp_path, slurm_conf="Include %c.conf\nClusterName=Big\n")
    assert trouble(read(place)) == [
        ("slurm.conf", 1, "%c is used before ClusterName is set", "move ClusterName above this line")
    ]


def test_files_that_slurm_could_not_include(tmp_path: Path) -> None:
    names = ("gone.conf", "*.conf", "a.conf", "pipe", "link", "../x", "/etc/passwd")
    text = "".join(f"Include {name}\n" for name in names)
    place = directory(tmp_path / "etc", slurm_conf=text, a_conf="Include slurm.conf\n")
    (tmp_path / "x").write_text("SECRET=1\n")
    (place / "link").symlink_to(tmp_path / "x")
    os.mkfifo(place / "pipe")
    lines = read(place)
    assert trouble(lines) == [
        (
            "slurm.conf",
            1,
            "'gone.conf' cannot be read: there is no such file in the directory",
            "create the file, or remove the line: Slurm waits a minute for it and then stops",
        ),
        ("slurm.conf", 2, "Slurm does not expand patterns in Include", "write an Include line for each file"),
        ("a.conf", 1, "'slurm.conf' includes itself", "remove one Include of slurm.conf → a.conf → slurm.conf"),
        ("slurm.conf", 4, "'pipe' cannot be read: it is a pipe or a device, not a file", None),
        ("slurm.conf", 5, f"'link' cannot be read: it is outside the directory, a link to {tmp_path / 'x'}", None),
        ("slurm.conf", 6, "'../x' cannot be read: it is outside the directory", None),
        ("slurm.conf", 7, "'/etc/passwd' cannot be read: it is outside the directory", None),
    ]
    assert not any("SECRET" in text for _, text in seen(lines))


def test_a_chain_of_includes_ends(tmp_path: Path) -> None:
    files = {f"c{number}_conf": f"Include c{number + 1}.conf\n" for number in range(150)}
    place = directory(tmp_path, slurm_conf="Include c0.conf\n", **files)
    (problem,) = trouble(read(place))
    assert problem[2] == "too many files include one another"


def test_without_its_main_file_there_is_nothing_to_read(tmp_path: Path) -> None:
    assert open_directory(tmp_path, lambda _: None).config("slurm.conf") is None
