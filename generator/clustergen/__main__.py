"""`python -m clustergen`."""

from clustergen.cli import main

main()
