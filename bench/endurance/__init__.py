"""Long runs of the program under simulated months of operation."""
