"""Connections."""

from nnefc.mo.graph.graph import Connection

__all__ = ["Connection"]
