"""SwingBench: XML, console and JSON."""
