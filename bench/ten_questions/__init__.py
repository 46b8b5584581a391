"""The ten questions of the operator's guide on a database of soak games, recomputed from exports."""
