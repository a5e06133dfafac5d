"""The version of this package."""

VERSION = "1.1.0"
