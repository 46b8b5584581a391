"""Models whose networks predict people's moves by rating (`lab.training.people`)."""
