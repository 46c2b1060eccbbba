"""One module a command, each with a ``command``; they read input, call a package, and print text or JSON."""
