"""Power saving: slurmctld switches idle nodes off, and on again when a job needs them."""
