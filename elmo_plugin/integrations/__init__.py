"""ELMo in other libraries, each an extra: `spacy`, `flair`, `sklearn`."""
