"""The systems as declarative state machines."""
