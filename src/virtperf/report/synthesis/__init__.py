"""What all studies say together: the same questions put to every study, shared quantities compared,
capacities.
"""
