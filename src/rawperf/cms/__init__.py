"""Consoles of CMS."""
