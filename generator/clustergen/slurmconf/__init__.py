"""Slurm's own configuration grammar: reading it with positions, and printing it.

All of slurm.conf, gres.conf, cgroup.conf, topology.conf, slurmdbd.conf … share one grammar, which this package holds
and nothing more: what a key means, and which keys a release knows, is passed to it.

- `grammar`: lines, pairs, problems; the rules in words
- `parse`: one text → lines
- `reading`: the files of one directory, within bounds
- `bounds`: how much the lines of one file may stand for
- `include`: a directory of texts → lines, with `Include` followed
- `directory`: a directory of files → values with their places, DEFAULT lines applied
- `scalars`: values as numbers, booleans, times, amounts and lists
- `printing`: values and lines that the parser reads back as they were
"""

from __future__ import annotations

from clustergen.slurmconf.grammar import KeyTables, Line, Pair, Problem, ProblemKind, Span
from clustergen.slurmconf.include import read_config
from clustergen.slurmconf.parse import decode, parse
from clustergen.slurmconf.printing import line, quote_value

__all__ = [
    "KeyTables",
    "Line",
    "Pair",
    "Problem",
    "ProblemKind",
    "Span",
    "decode",
    "line",
    "parse",
    "quote_value",
    "read_config",
]
