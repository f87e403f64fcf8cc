"""The differences that are meant, each with its reason."""

from compare import Expected

ALL = [
]
