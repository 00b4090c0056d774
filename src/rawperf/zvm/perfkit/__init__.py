"""Reports of the Performance Toolkit for VM."""
