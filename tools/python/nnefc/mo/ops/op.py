"""Operations."""

from nnefc.mo.op import Op

__all__ = ["Op"]
