"""Statistical models: every estimate with an interval, every interval with its method.

One module a model. They are imported one by one, because statsmodels takes a second to load:

    from virtperf.models.usl import fit_usl
"""
