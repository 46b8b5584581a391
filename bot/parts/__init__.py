"""Parts of views, the same for all pages, and the two renderers: HTML and the terminal."""
