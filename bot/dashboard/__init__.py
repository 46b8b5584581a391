"""The operator's dashboard: current activity, trial results, and controls."""
