"""Problems of Slurm's keys and values, in a manifest's options and in a hand-written slurm.conf alike.

Pure checks over texts: `rules` turns a `Remark` into a finding at a path of the manifest, `lint` into one at a line of
a file. What a release does with it is in `Remark.outcome`: stop, say so in a log, or take it in silence.

- `remarks`: the record
- `keys`: is there such a key, and does the release read it
- `values`: what its parser reads: numbers, words, plugins
- `forms`: texts with a form of their own: durations, states, weights
- `combinations`: words and keys that exclude or need each other
"""

from __future__ import annotations

from clustergen.slurmrules.remarks import Outcome, Remark

__all__ = ["Outcome", "Remark"]
