"""Worker processes, on this machine or on a cluster, and the jobs that they are given."""
