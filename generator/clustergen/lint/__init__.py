"""Findings in hand-written files of Slurm's: what stops its daemons, what they complain of, what harms jobs.

- `run`: a path → findings, the one way in
- `site`: what the checks look at: the files, the release, nodes and partitions; how a finding is made
- `hostlists`: host lists that cannot be read, their unknown nodes, and where in one a host stands
- `topology_tree`, `topology_blocks`: what `topology` and `topology_yaml` read, judged by the same checks
- `release`: which release wrote the files, where nobody says
- `fix`: the findings that have one safe answer, put into the files
- `merge`: findings for people, the same one once
- the other modules: checks, a topic each, which are found by their type (`run.checks_of`)

An error is what a daemon or a command of that release stops on. A warning is what Slurm says in a log and goes on, or
takes in silence and does otherwise than was meant. A note is advice.
"""
