"""The bench that takes the screenshots of the docs."""
