"""Several configurations and seeds, each trained once, and their scores."""
