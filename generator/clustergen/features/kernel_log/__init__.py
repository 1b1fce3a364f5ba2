"""Errors in the logs of kernels: a program of every node counts them."""
