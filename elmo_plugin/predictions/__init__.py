"""What a trained model says: in a terminal, in files, as HTML."""
