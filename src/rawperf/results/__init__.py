"""Tables of results: the files in which benchmarks print one row a benchmark, and plain tables."""

from rawperf.results.formats import ResultFormat
from rawperf.results.read import read_results
from rawperf.results.result_table import ResultBuilder, ResultQuantity, ResultTable

__all__ = ["ResultBuilder", "ResultFormat", "ResultQuantity", "ResultTable", "read_results"]
