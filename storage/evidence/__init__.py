"""All that is counted: measures of judged replies, inference, trials, queries and exports."""
