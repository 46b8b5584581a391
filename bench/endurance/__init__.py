"""Long runs of the program that simulate months of operation."""
