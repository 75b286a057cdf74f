"""The paper's released corpus, *deciban*: huggingface.co/datasets/IcyApril/deciban.

Its files hold per-vote records, vote counts, grades, gold answers and the reasons of abstentions. What each file holds
is told by its columns; every dataset is read from one source of votes, which the other files complete or confirm.
"""

from swaplaw.paper.corpus.download import download_deciban
from swaplaw.paper.corpus.read import Corpus, Reading, read_deciban

__all__ = ["Corpus", "Reading", "download_deciban", "read_deciban"]
