"""Views as plain values, computed once: sentences, tables, charts.  Front ends render them."""
