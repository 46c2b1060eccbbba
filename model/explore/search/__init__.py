"""The search: level by level over packed states, in shards, within budgets; kept, resumed, spilled to disk."""
