"""The screenshots in the docs, and the sample games that they show."""
