"""The machine room that a cluster means: where devices stand, and which cable joins which two ports.

Pure functions of the resolved cluster; rules judge what they return, views print it.
"""
