"""Limits of users and services: locked memory and open files."""
