"""Machines and traces in the formats of other tools: ITF, Mermaid, DOT, networkx."""
