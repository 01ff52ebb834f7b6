"""OpenAI itself, or a server elsewhere that speaks its chat completions."""

from workers.providers.chat_completions import ChatBackend


class OpenAIBackend(ChatBackend):
    own = "https://api.openai.com/v1"
