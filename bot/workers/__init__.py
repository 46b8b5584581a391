"""Worker processes and their jobs, on this machine or on a cluster."""
