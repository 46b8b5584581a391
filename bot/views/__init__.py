"""What people are shown, made once as plain values: sentences, tables, charts.  Faces render them."""
