"""The spec language, its meaning, and the engines that work on it."""
