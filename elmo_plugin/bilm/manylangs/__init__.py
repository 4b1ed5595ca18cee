"""Models of ELMoForManyLangs (Che et al., 2018): read from their folder, and run as any other biLM."""
