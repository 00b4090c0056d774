"""Published artifacts: a draft study made of one, and a study exported as one (RO-Crate)."""
