"""The paper's experiments, to be run again: methods, cells, tables and plots."""
