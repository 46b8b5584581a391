"""Parts of views, the same for all pages, and the two faces that render them: HTML and the terminal."""
