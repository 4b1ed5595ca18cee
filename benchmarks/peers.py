"""Which peers are installed."""

import importlib


def why_not(module: str) -> str | None:
    """Why a module cannot be imported; `None` if it can."""
    try:
        importlib.import_module(module)
    except Exception as error:  # a torchvision of another torch raises a RuntimeError
        return f"{module} cannot be imported: {error}"
    return None
