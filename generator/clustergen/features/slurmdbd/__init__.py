"""Accounting: slurmdbd with its database, and what it records of jobs."""
