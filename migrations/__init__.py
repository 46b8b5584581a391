"""The schema's history: one script for each change, run by `storage.migrate`; they import
nothing of ours.
"""
