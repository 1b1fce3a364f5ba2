"""Keys of Slurm's files: a module per topic, which yields those that it adds, gathered in `table`."""
