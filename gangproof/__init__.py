"""The face of the laboratory: command line, HTML reports, `import gangproof`."""
