"""A folder of raw files on its way to become a measured run: described, previewed with the real
stages, then copied.
"""
