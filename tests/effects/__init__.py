"""Changes tried on a running Slurm: a small cluster in private namespaces, the verdict of `clustergen diff`, its steps.

- `machine`: one root file system in private namespaces; `cluster`: daemons, jobs and steps (both run inside)
- `configuration`: the configuration that all changes start from, and edits of it
- `changes_nodes`, `changes_partitions`, `changes_keys`, `changes_settings`, `changes_running`, `changes_accounting`:
  the changes, each with how its new value shows
- `verdicts`: the verdict in process, as steps that `cluster` carries out
- `judge`: what came of it: right, too strict, too mild
- `drawn`: changes drawn from the fields of the manifest
- `measure`: runs many of them and writes `slurm_effects_measured.tsv`
"""
