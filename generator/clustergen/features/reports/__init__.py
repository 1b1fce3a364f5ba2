"""Reports of usage by account and user, when a period is over."""
