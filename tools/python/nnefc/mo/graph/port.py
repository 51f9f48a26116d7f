"""Ports."""

from nnefc.mo.graph.graph import Port

__all__ = ["Port"]
