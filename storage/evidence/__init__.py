"""Statistics: measures of judged replies, statistical inference, trials, queries and exports."""
