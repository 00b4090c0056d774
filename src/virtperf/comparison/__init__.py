"""Two sides of runs compared: did it get slower, and would equal runs have been called different?"""
