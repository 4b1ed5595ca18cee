"""The head of a program that runs as if AllenNLP and its dependencies were not installed."""

BLOCK_ALLENNLP = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        blocked = ("allennlp", "overrides", "transformers", "torchvision", "cached_path", "requests")
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"{name} is blocked", name=name)
sys.meta_path.insert(0, Blocker())
"""
