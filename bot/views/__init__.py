"""Views, one module each: what a page shows, as frozen values that the dashboard and the terminal render."""
