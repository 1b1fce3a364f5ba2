"""Lets the programs that will read the files read them: real Slurm, Prometheus, systemd, chrony.

`sandbox` shows a program the files where they will lie on the node; `slurm_roots` finds the programs; one module per
family asks them. Nothing here decides what is right: it passes on what the programs said.
"""
