"""How long the texts of each task may be, and which classes of a user's sentence are worth keeping."""

from holdfast.adapters.embedders.local import LONGEST_JUDGED as LONGEST
from holdfast.model.ports import CLASSES as TASKS

KEPT = 4  # the first classes of a user's sentence: what is worth keeping
BETWEEN = " … "  # stands between the agent's message and the sentence before
__all__ = ["BETWEEN", "KEPT", "LONGEST", "TASKS"]
