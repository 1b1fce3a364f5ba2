"""Facts that do not belong to a user: hardware, and the names that each release of each program knows.

One module per topic, each reading its own files under `data/` when first asked:

- `hardware`: GPUs, network adapters, switches, link rates
- `cabling`: connectors, cables, transceivers, and what joins two ports; `netbox`: NetBox's names of ports and inlets
- `facility`: figures for racks, power and cooling
- `systems`: whole servers and what hangs where in them
- `mig`: MIG profiles, and whether a layout fits on a GPU
- `operating_systems`: paths, units and packages that differ between distributions
- `slurm`: releases, keys; `slurm_values`: words of lists, plugins, defaults, what a change takes
- `nccl`, `dcgm`: names by release; `metrics`: what exporters offer; `gpu_health`: GPU errors by generation
- `storage`: BeeGFS, Lustre, mount options; `network`: ports; `bandwidth`: measured figures
- `versions`: releases that compare

A look-up of an unknown name returns None; who asked makes the diagnostic. Rows are named tuples: immutable, open to
`_replace`, and free to be built by others (a site's own GPU is a `Gpu` like any other).
"""
