"""Exhibits: the figures, tables and boxes that a study's notebook shows, in one house style.

A notebook needs one name:

    from virtperf.exhibits import Book
"""

from virtperf.exhibits.book import Book

__all__ = ["Book"]
