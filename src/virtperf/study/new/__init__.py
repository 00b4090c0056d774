"""What a new study begins with: commented files that the whole pipeline runs through at once."""
