"""What a biLM knows, by layer, and how much each layer counts in trained models."""
