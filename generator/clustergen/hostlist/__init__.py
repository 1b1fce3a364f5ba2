"""Slurm's folded host lists: `compute[01-08],login1` stands for nine names.

The order of a list is kept everywhere, because the order of node lines is Slurm's node index order; names that stand
twice stay twice. A range is padded to the width of its low bound, so `n1` and `n01` are different hosts. A list may
hold addresses as well (`10.0.0.[11-18]`, `fd00::[1-8]`); the numbers in brackets are decimal text there too.
Stricter than Slurm in what is always a slip of the pen: stray commas, `[5-]`, `[1-08]`, characters no host name has.
"""

from __future__ import annotations

from clustergen.hostlist.errors import HostlistError
from clustergen.hostlist.read import MAX_HOSTS, MOST_NAMES, contains, count, expand, names_of, span_of
from clustergen.hostlist.slurm import is_node_name, validate_for_slurm
from clustergen.hostlist.write import ansible_ranges, compress, folded, natural_key

__all__ = [
    "MAX_HOSTS",
    "MOST_NAMES",
    "HostlistError",
    "ansible_ranges",
    "compress",
    "contains",
    "count",
    "expand",
    "folded",
    "is_node_name",
    "names_of",
    "natural_key",
    "span_of",
    "validate_for_slurm",
]
