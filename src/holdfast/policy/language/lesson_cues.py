"""Whether something a sub-agent saw sounds like a lesson that should be kept as a scar."""

import re

_LESSON = re.compile(
    r"\b(?:unexpected(?:ly)?|failed silently|silently fail\w*|assum(?:ed|ption)|did(?:n['’]t| not) (?:realize|realise|know)|"
    r"broken|missing|no tests?|untested|data loss|lost data)\b",
    re.IGNORECASE,
)


def lesson_cue(text: str, severity: str = "") -> str:
    """Give what makes an observation a candidate for a scar; nothing when it is none."""
    if severity == "scar_candidate":
        return "marked as a candidate"
    cue = _LESSON.search(text)
    return f"says “{cue[0]}”" if cue else ""
