"""The driver iwlengine: XML, console, summary."""
