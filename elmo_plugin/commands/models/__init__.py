"""Commands on task models: trainings with several seeds, ensembles, scores, answers and layer weights."""
