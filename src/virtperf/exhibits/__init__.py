"""Exhibits: the figures and tables of a study in one house style; notebooks use `virtperf.exhibits.book.Book`."""
