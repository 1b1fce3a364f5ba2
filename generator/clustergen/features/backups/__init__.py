"""Backups of the accounting database and of slurmctld's state to storage of other machines."""
