"""Commands on what a biLM knows: word senses, and what its layers tell of words."""
