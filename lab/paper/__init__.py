"""The paper's experiments: methods, measurements, tables and plots."""
