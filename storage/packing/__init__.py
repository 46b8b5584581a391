"""The packed form in which the records of decisions and forecasts are stored."""
