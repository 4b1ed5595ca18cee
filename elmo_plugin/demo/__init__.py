"""A local page that shows what trained models and a biLM do."""
