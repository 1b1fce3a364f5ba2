"""Real scontrol reads the same names out of a list, and folds names into the same list."""

import random
import re

import pytest

from clustergen.hostlist import HostlistError, compress, expand, validate_for_slurm
from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall

pytestmark = pytest.mark.real
REFUSED: list[str] = []


def scontrol(slurm: SlurmInstall, commands: list[str]) -> list[list[str]]:
    """Answers of one scontrol to each command; empty if it refuses a list."""
    notes = {
        "slurm.conf": "ClusterName=c\nSlurmctldHost=localhost\nNodeName=localhost\n",
        "commands": "".join(f"{command}\nversion\n" for command in commands),
    }
    script = "cd /run/clustergen; SLURM_CONF=$PWD/slurm.conf exec scontrol <commands"
    done = sandbox.run(sandbox.Sandbox(slurm.path), ["sh", "-c", script], timeout=300, notes=notes)
    *answers, _ = re.split(r"(?m)^slurm-wlm \S+\n", done.stdout)
    assert len(answers) == len(commands), done.stderr
    # The program echoes each command behind its prompt; it says on stderr why it refuses one, and prints no name.
    return [[line for line in answer.split("\n") if line and not line.startswith("scontrol:")] for answer in answers]


def some_lists(dice: random.Random, how_many: int) -> list[str]:
    """Lists of every shape that `expand` reads, with few letters and small numbers so that names meet."""

    def number() -> str:
        return f"{dice.randrange(30):0{dice.randrange(1, 4)}d}"

    def bounds() -> str:
        low, width = dice.randrange(30), dice.randrange(1, 4)
        return f"{low:0{width}d}-{low + dice.randrange(9):0{width}d}"

    def bracket() -> str:
        return "[" + ",".join(dice.choice((number, bounds))() for _ in range(dice.randrange(1, 4))) + "]"

    def item() -> str:
        parts = [dice.choice(("n", "rack", "a1", "-x", ".", "", "10.0.")) + bracket() for _ in range(dice.randrange(4))]
        return "".join(parts) + dice.choice(("", "", "-ib", "n7")) or "login"

    return [",".join(item() for _ in range(dice.randrange(1, 4))) for _ in range(how_many)]


def test_the_same_names(slurm: SlurmInstall) -> None:
    texts = [
        "compute[01-08,10],login1",
        "n[9-11]",
        "n[01-3]",
        "r[0-1]s[0-1]t[0-1]u[0-1]",
        "n[1-2]-ib",
        "a[1-2]b[3]c,n[5-7]",
        "fd00::[1-8]",
        "n[3,1,2,2]",
        *some_lists(random.Random(1), 500),
    ]
    for text, answer in zip(texts, scontrol(slurm, [f"show hostnames {text}" for text in texts]), strict=True):
        if slurm.release < "23.11" and re.search(r"\][^],[]+(,|$)", text):
            with pytest.raises(HostlistError):
                validate_for_slurm(text, slurm.release, "23.11")
            assert answer == REFUSED, text
            continue
        assert answer == expand(text), text


def test_the_same_folding_of_one_number(slurm: SlurmInstall) -> None:
    dice = random.Random(2)
    lists = [
        [
            f"{dice.choice(('n', 'n', 'm1x', 'login'))}{dice.randrange(8, 13):0{dice.choice((1, 1, 2, 3))}d}"
            for _ in range(9)
        ]
        for _ in range(300)
    ]
    lists += [["n9", "n10"], ["n08", "n09", "n010"], ["a", "b1"], [f"n{i}" for i in range(98, 103)]]
    answers = scontrol(slurm, [f"show hostlist {','.join(names)}" for names in lists])
    for names, answer in zip(lists, answers, strict=True):
        assert answer == [compress(names)], names


def test_two_brackets_mean_the_same_names(slurm: SlurmInstall) -> None:
    names = expand("rack[0-63]n[1-8],gpu[001-320]")
    text = compress(names)
    assert text == "rack[0-63]n[1-8],gpu[001-320]"
    assert scontrol(slurm, [f"show hostnames {text}"]) == [names]


def test_lists_that_slurm_refuses_are_refused_here(slurm: SlurmInstall) -> None:
    texts = ["n[5-1]", "n[a]", "n[1-9/2]", "n[1:9]", "n[0-65536]", "a,n[1-2]m[]"]
    assert scontrol(slurm, [f"show hostnames {text}" for text in texts]) == [REFUSED] * len(texts)
    for text in texts:
        with pytest.raises(HostlistError):
            expand(text)
