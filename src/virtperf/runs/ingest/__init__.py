"""Run folders, measured ones and examples alike, read into tidy samples."""
