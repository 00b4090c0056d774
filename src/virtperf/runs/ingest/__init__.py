"""Run folders, simulated and measured alike, read into tidy samples."""
