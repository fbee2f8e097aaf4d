from .registry import Registry
from .text import slug

__all__ = ["Registry", "slug"]
