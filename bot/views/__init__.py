"""Views, one per module: a page's content as frozen values, which dashboard and terminal render."""
