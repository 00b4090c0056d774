"""Readers of what z/VM and the drivers of its guests print: Performance Toolkit, CMS consoles, iwlengine."""
