"""What all readers share: errors, units, typed YAML files, the metric dictionary."""
