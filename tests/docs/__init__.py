"""The documentation: parts of pages that are written from the code or from data, and tests of all pages."""
