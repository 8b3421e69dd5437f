"""What fields may be, without labels for words: candidates and the choice among them."""

from lawful.candidates.answers import Answer as Answer
from lawful.candidates.answers import read_answer as read_answer
