"""What the program has learned of a person, for that person alone."""
