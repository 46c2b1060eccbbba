"""From numbers of states to runs in the spec's words: shortest, and changing few cells."""
