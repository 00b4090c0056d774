"""Validation of the models: digits of certified results, coverage of intervals. Not part of the
package.

python -m tools.validation.calibrate    writes docs/calibration.md
"""
