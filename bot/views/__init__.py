"""Views, one module each: a page's content as frozen values, rendered by the dashboard and the terminal."""
