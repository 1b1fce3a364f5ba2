"""Import: a hand-grown directory of Slurm's files → a manifest that renders back to the same meaning.

- `directory`: the whole way, from the directory to the manifest and what came of it
- `originals`: the directory, its release, what its files say; `comments`: what its comments say
- `draft`: the manifest while it is made, value by value, each with where it came from and where else it could go
- `settings`, `machines`, `partitions`, `controllers`, `accounting`, `files`, `sections`: what becomes of which lines
- `sacctmgr`: a dump of the accounts, and the table of QOS, as read; `qos`, `accounts`, `associations`
- `node_types`, with `hardware` and `mig` (the catalogue's GPUs and systems) and `naming`; `gres`, `devices`: gres.conf
- `topology`: Slurm's switches and blocks as read; `fabric`: as the manifest's; `lines`: files line by line
- `fitting`: moves what does not validate, or renders to another meaning, to where it fits; `comparing`: the meanings;
  `lean`: takes away what Slurm has anyway
- `todo`: what Slurm's files do not contain
- `writing`: the draft as YAML; `report`: what came of it, for people and programs
"""
