"""Worker processes, on this machine or on a cluster, and their jobs."""
