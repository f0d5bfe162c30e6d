"""What groups of each newer protocol are given of their broker."""
