"""An observer behind any endpoint that speaks the OpenAI chat completions API, such as OpenRouter, Ollama or vLLM."""

from typing import Any
from urllib.parse import urlsplit

from holdfast.adapters.observers.anthropic import spent
from holdfast.adapters.observers.http import SECONDS, post
from holdfast.model.observer import Answered, Declined, Question, Reply, Unreachable

URL = "https://api.openai.com/v1"
_COUNTED = ("prompt_tokens", "completion_tokens")


class OpenAIObserver:
    """Asks a model by its name; local endpoints need no key."""

    overhead = 100

    def __init__(self, url: str, model: str, key: str, *, seconds: float = SECONDS) -> None:
        base = (url or URL).rstrip("/")
        self.name = "openai"
        self.model = model
        self._url = base + "/chat/completions"
        self._headers = {"authorization": f"Bearer {key}"} if key else {}
        # OpenAI's own models know only the newer name, most others only the older one.
        self._most = "max_completion_tokens" if urlsplit(base).hostname == "api.openai.com" else "max_tokens"
        self._seconds = seconds

    def ask(self, question: Question) -> Reply:
        """Ask the model and return its reply."""
        body = {
            "model": self.model,
            self._most: question.most_tokens,
            "messages": [
                {"role": "system", "content": question.instructions},
                {"role": "user", "content": question.text},
            ],
        }
        value = post(self._url, body, self._headers, seconds=self._seconds)
        return _answer(value) if isinstance(value, dict) else value


def _answer(value: dict[str, Any]) -> Reply:
    tokens = spent(value.get("usage"), _COUNTED)
    try:
        choice = value["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content") or "", message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Unreachable(said="The endpoint answered without a choice.")
    if refusal or choice.get("finish_reason") == "content_filter":
        return Declined(said=str(refusal or "The answer was filtered."), tokens=tokens)
    return Answered(text=text, tokens=tokens) if isinstance(text, str) else Unreachable(said="The answer is not text.")
