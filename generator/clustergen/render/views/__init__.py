"""A view per output family: records with everything computed, and the table of the files that they feed.

A module or package of this directory has `FILES`, its rows of the registry, and one function per file that returns the
view, or None where the cluster has no use for the file. Templates loop, test and print; what they see are the fields of
the view.
"""
