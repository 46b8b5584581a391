"""`desdemona page month`: a month in one file, with plots."""
