"""Long runs of the program: under everything that months bring, and with pages open beside its games."""
