"""Building blocks of views, shared by all pages, and the two renderers: HTML and terminal."""
