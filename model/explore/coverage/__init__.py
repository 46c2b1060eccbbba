"""What an exploration did not see, and what no mutant of the machine breaks."""
