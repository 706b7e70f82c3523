"""What the classifier tells apart: the tasks, their classes in the order of the model's outputs, and how long its texts may be."""

TASKS: dict[str, tuple[str, ...]] = {
    "user": ("rule", "fact", "decision", "correction", "task", "question", "report", "guess", "chat"),
    "agent": ("finding", "lesson", "decision", "guess", "refuted", "done", "open", "blocker", "noise"),
    "pair": ("conflict", "same", "refines", "other"),
    "answers": ("yes",),  # one score: does the memory answer the question?
}
LONGEST = {"user": (80, 64), "agent": (90, 64), "pair": (80, 80), "answers": (64, 150)}  # word pieces of A and of B
KEPT = 4  # the first classes of a user's sentence: what is worth keeping
BETWEEN = " … "  # stands between the agent's message and the sentence before
