"""Load protection: budgets, quotas, caches and limits on streams."""
