"""The real parser reads the same keys and values out of a file, and stumbles over the same lines.

A command of Slurm's reads slurm.conf first and says on stderr what it makes of it: a number's key repeats a value that
is no number, an unknown key is named, and a line that cannot be read is given with its number.
"""

import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from clustergen.slurmconf import KeyTables, Line, decode, parse, quote_value
from clustergen.slurmconf.directory import open_directory
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall

pytestmark = pytest.mark.real
HEAD = "ClusterName=Big\nSlurmctldHost=localhost\n"
NUMBER, TEXT = "SlurmctldTimeout", "MailDomain"
TABLES = {"": ["ClusterName", "SlurmctldHost", NUMBER, TEXT]}
_MESSAGE = re.compile(
    rf'(?m)error: {NUMBER} value "(?P<value>.*)" is not a valid number$'
    r"|error: (?:_parse_next_key: )?Parsing error at unrecognized key: (?P<key>\S+)$"
    r'|error: (?P<what>Parse error|"Include" failed) in file /etc/slurm/(?P<file>\S+) line (?P<line>\d+)'
)

Event = tuple[str, str]


def events_of_slurm(slurm: SlurmInstall, conf: Path) -> list[Event]:
    """The parse errors that a program of Slurm prints for a directory of files."""
    box = sandbox.Sandbox(slurm.path, files=((conf, "/etc/slurm"),))
    output = sandbox.run(box, ["sinfo"], timeout=300).stderr
    events: list[Event] = []
    for match in _MESSAGE.finditer(output):
        if match["value"] is not None:
            events.append(("value", match["value"]))
        elif match["key"] is not None:
            events.append(("unknown", match["key"]))
        else:
            kind = "unreadable" if match["what"] == "Parse error" else "include"
            events.append((kind, f"{match['file']}:{match['line']}"))
    return events


def we_say(lines: Sequence[Line]) -> list[Event]:
    """The same, from what we read: Slurm leaves a line at its first unknown key or bad number."""
    events: list[Event] = []
    for each in lines:
        if each.key == NUMBER.lower() and each.pairs[0].value:  # an empty one is 0
            events.append(("value", each.pairs[0].value))
        elif each.pairs and any(problem.kind == "key-unknown" for problem in each.problems):
            events.append(("unknown", each.pairs[0].key))
        elif any(problem.kind == "include-failed" for problem in each.problems) and each.include:
            events.append(("include", f"{each.file}:{each.number}"))
        elif any(problem.kind.fatal for problem in each.problems):
            events.append(("unreadable", f"{each.file}:{each.number}"))
    return events


def random_lines(dice: random.Random, how_many: int) -> str:
    """Lines that try every corner of the grammar. Their numbers are never valid ones."""
    keys = (NUMBER, NUMBER.upper(), TEXT, "Foo", "include")
    pieces = (
        "a",
        "/b",
        "=",
        '"',
        '"',
        " ",
        "  ",
        "\t",
        "#",
        "\\",
        "\\\\",
        "\\#",
        "\r",
        "\x0b",
        "\u00e9",
        "\u2003",
        "x y",
        "A=b",
    )

    def some(most: int) -> str:
        return "".join(dice.choice(pieces) for _ in range(dice.randrange(most)))

    def one() -> str:
        operator = dice.choice(("=", "=", "=", "+=", "/=", " = ", "=\t", " ", "\\=", "#="))
        value = dice.choice((some(7), some(7), f'"{some(5)}"', f'"{some(5)}"{some(3)}', "\0" + some(3)))
        return (
            dice.choice(("", "", " ", "\t", "\\", "#")) + dice.choice(keys) + operator + "x" * dice.randrange(2) + value
        )

    lines = (one() for _ in range(how_many))
    # What a file names with Include would have to be there.
    return "".join(f"{text}\n" for text in lines if not re.match(r"\\?include\s|include\\", text, re.IGNORECASE))


def read(directory: Path, tables: KeyTables, *, beside_includer: bool = False) -> Sequence[Line]:
    config = open_directory(directory, lambda _: tables, beside_includer=beside_includer).config("slurm.conf")
    assert config is not None
    return config.lines


def test_any_lines(slurm: SlurmInstall, tmp_path: Path) -> None:
    text = HEAD + random_lines(random.Random(1), 1500) + f"{NUMBER}=\\"
    (tmp_path / "slurm.conf").write_bytes(text.encode())
    ours = we_say(parse(text, "slurm.conf", key_tables=TABLES))
    assert len(ours) > 1000
    assert events_of_slurm(slurm, tmp_path) == ours


def test_printed_values(slurm: SlurmInstall, tmp_path: Path) -> None:
    dice = random.Random(2)
    alphabet = "ab /\\#=,[]'\t\u00e9\u2003$%`;&"
    values = ["x" + "".join(dice.choice(alphabet) for _ in range(dice.randrange(12))) for _ in range(500)]
    text = HEAD + "".join(f"# {value}\n{NUMBER}={quote_value(value)}\n" for value in values)
    (tmp_path / "slurm.conf").write_bytes(text.encode())
    assert events_of_slurm(slurm, tmp_path) == [("value", value) for value in values]


def test_included_files(slurm: SlurmInstall, tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    main = [
        HEAD,
        f"{NUMBER}=one",
        r"Include more/a\#1.conf",
        f"{NUMBER}=four",
        "Include %c.conf",
        "INCLUDE\t/etc/slurm/more/b.conf ",
        "",
    ]
    (tmp_path / "slurm.conf").write_text("\n".join(main))
    (tmp_path / "more/a#1.conf").write_text(f"{NUMBER}=two\r\nInclude b.conf\r\n")
    (tmp_path / "b.conf").write_text(f"{NUMBER}=three")
    (tmp_path / "more/b.conf").write_text(f"{NUMBER}=six\nFoo=1\nMailDomain=a b\n")
    (tmp_path / "big.conf").write_text(f"{NUMBER}=five\n")
    older = slurm.release < "23.02"
    lines = read(tmp_path, TABLES, beside_includer=older)
    ours = we_say(lines)
    third = ["six"] if older else ["three"]
    assert [value for kind, value in ours if kind == "value"] == ["one", "two", *third, "four", "five", "six"]
    # What is wrong in a file is an error of every line that includes it, too.
    rows = [(kind, value) for kind, value in events_of_slurm(slurm, tmp_path) if kind != "include"]
    assert [(kind, value.removeprefix("/etc/slurm/")) for kind, value in ours] == rows


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (" Include big.conf\n", ["unreadable"]),
        ("# a line that is longer\nInclude a", ["unreadable"]),
        ("Include a# a comment\n", ["unreadable"]),
        ("\ufeffMailDomain=a\n", ["unreadable"]),
        ("NodeName=n1 Foo=2\n", ["unknown", "unreadable"]),
        ("NodeName=n1 Reason=a b\n", ["unreadable"]),
        ("NodeName=n1 Gres=\n", ["unreadable"]),
        ("NodeName=n1 MailDomain=x\n", ["unknown", "unreadable"]),
    ],
)
def test_files_that_slurm_refuses(slurm: SlurmInstall, text: str, events: list[str], tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_bytes((HEAD + text).encode())
    (tmp_path / "a").write_text("MailDomain=x\n")
    assert [kind for kind, _ in events_of_slurm(slurm, tmp_path)] == events
    tables = TABLES | {"": [*TABLES[""], "NodeName"], "NodeName": ["Reason", "Gres"]}
    lines = read(tmp_path, tables)
    assert any(problem.kind.fatal for read in lines for problem in read.problems)


def test_patterns_are_not_included(current_slurm: SlurmInstall, tmp_path: Path) -> None:
    # 22.05 waits a minute for a file of that very name.
    (tmp_path / "slurm.conf").write_text(HEAD + "Include *.conf\n")
    lines = read(tmp_path, TABLES)
    assert events_of_slurm(current_slurm, tmp_path) == we_say(lines) == [("include", "slurm.conf:3")]


def test_bytes_of_any_encoding(slurm: SlurmInstall, tmp_path: Path) -> None:
    data = HEAD.encode() + b"%b=x\xe9\xff y\n%b=\xc3\xa9\n" % (NUMBER.encode(), NUMBER.encode())
    (tmp_path / "slurm.conf").write_bytes(data)
    ours = we_say(parse(decode(data), "slurm.conf", key_tables=TABLES))
    shown = [(kind, value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")) for kind, value in ours]
    assert events_of_slurm(slurm, tmp_path) == shown
