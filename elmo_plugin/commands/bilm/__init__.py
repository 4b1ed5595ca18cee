"""Commands on biLMs: their vocabulary, their perplexity, their average, and the published format."""
