"""Run folders, reconstructed and measured alike, read into tidy samples."""
