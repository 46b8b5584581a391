"""Long runs of the program, under everything that months bring."""
