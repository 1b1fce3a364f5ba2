"""Dates on which certificates, licences and contracts end."""
