"""Settings of firmware that nodes should have: a list for people, and what `drift` compares with the BMCs."""
