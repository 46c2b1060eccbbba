"""From a machine to a ground program: quantifiers unrolled, actions as instances, claims as events."""
