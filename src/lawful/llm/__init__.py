"""Language models behind OpenAI-compatible servers: clients, prompts, and the smallest question."""

from lawful.llm.asking import Answer, Ask, EndpointError, Reply, Usage
from lawful.llm.client import Client
from lawful.llm.extraction import extract_values

__all__ = ["Answer", "Ask", "Client", "EndpointError", "Reply", "Usage", "extract_values"]
