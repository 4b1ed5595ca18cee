"""Models of ELMoForManyLangs: reading their folders, and their token encoder."""
