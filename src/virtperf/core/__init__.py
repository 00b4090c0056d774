"""What everything else stands on: errors, units, files, tables, parameters, where things lie."""
