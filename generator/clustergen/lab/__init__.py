"""The nodes of a manifest as containers: the same cluster, with the few substitutions of `substitutions.py`.

`work` is the directory of a lab; `scale`, `subnet` and `mig` fit the manifest to this machine; `images` makes bare
systems; `engine` talks to podman or docker, with `namespace` and `confine` for what systemd needs there; `nodes` starts
containers; `run` is what the verbs do. Nothing outside knows labs.
"""
