"""The view groups of each newer protocol have of their broker."""
