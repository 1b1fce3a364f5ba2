"""Tuning of node types: settings of kernel and drivers, by a script at every boot."""
