"""Share groups on the page (KIP-932): their records in a picture, and in a test made of a run."""
