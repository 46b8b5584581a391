"""Studies: the papers' experiments, recorded games of people, fitting, training and simulated people."""
