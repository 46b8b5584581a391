"""Statistics: measures of judged replies, inference, trials, queries and exports."""
