"""Prolog, epilog and task prolog: the programs that run around jobs, and their local scratch."""
