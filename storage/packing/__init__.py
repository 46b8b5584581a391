"""The packed format in which the records of decisions and forecasts are stored."""
