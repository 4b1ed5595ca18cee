"""The task models, one folder each. No task imports another."""
