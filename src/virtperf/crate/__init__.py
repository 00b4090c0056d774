"""The whole state of a repository as a Research Object Crate."""
