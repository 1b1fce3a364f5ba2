"""Time: the controllers ask servers outside, and all other nodes the controllers."""
