"""The effect of a change: two sets of files compared by meaning, and the steps that put the new one in place.

Slurm's files of one host, light enough for an action plugin of Ansible:

- `slurm`: old and new files → changes; what of them is to be done on one host
- `change`: one change with its effects, the nodes that it is about, reason and source
- `values`, `lines`: what a value and a line mean, so that equal meanings compare equal
- `nodes`, `partitions`, `gres`, `topology`, `plain`, `documents`: the kinds of lines and files

Whole trees, for `clustergen diff`:

- `arguments`, `git`: what the arguments name → `snapshot`, one side with its `inventory`
- `compare`: two snapshots → changes; `release`: another release of Slurm
- `manifest_changes`, `causes`, `naming`: changed values of the manifest, and which change came from which
- `steps`: what applying requires, in the order of site.yml, with `manual_steps`; `plan` is all of it
- `messages`, `show_text`, `show_json`, `show_markdown`: how a plan is shown
"""
