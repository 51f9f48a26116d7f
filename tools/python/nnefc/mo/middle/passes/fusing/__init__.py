"""Mirrors the package of the Model Optimizer."""
