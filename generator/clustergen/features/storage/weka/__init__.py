"""WEKA: clients, with cores that jobs do not get."""
