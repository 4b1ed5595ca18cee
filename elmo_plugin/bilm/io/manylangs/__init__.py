"""Models of ELMoForManyLangs, read from their folders."""

from elmo_plugin.bilm.io.manylangs.weights import is_model_folder, model_files, read_folder

__all__ = ["is_model_folder", "model_files", "read_folder"]
