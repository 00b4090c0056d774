"""Validation of the models: digits of certified results, coverage of intervals. Not part of the
package.

python -m validation.certify      writes docs/certified-digits.md
python -m validation.calibrate    writes docs/calibration.md
"""
