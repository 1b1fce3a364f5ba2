"""A saved plan, and the playbook that carries it out: `clustergen plan` and `clustergen apply` drive what exists.

`target` is a manifest with its tree; `playbook` runs `site.yml` and reads what a check of the nodes found;
`saved` is the file that a plan is kept in.
"""
