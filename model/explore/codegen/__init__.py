"""From a ground program to compiled functions: LLVM text of successors, table and rounds, jitted."""
