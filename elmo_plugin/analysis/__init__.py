"""Analyses the layers of a biLM, and their weights in trained models."""
