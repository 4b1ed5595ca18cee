"""Looking at trained models: the biLM in them, and their scores."""
