"""Raw files written around one consistent data set, in the tools' own formats."""
