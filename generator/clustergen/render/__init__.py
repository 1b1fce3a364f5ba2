"""From a cluster to the tree of its files: pure, without host, network, clock, user, locale or random number.

`registry` says for every file which group gets it, what putting it on a node takes, and which view feeds its template;
`views/` compute, templates print, `tree` is the result and `write` puts it on disk.
"""
