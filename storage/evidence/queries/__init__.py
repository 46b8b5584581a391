"""The queries behind the pages, the exports and the JSON interface, arranged by subject."""
