"""As in the Model Optimizer."""
