"""The paper's slower decoders; importing this adds them to ``lawful.decoders.DECODERS``."""

from __future__ import annotations

from lab.decoders.beam import Beam
from lab.decoders.best_first import BestFirst
from lab.decoders.lazy_ilp import LazyIlp
from lawful.decoders import DECODERS, Decoder

_SLOW: tuple[Decoder, ...] = (LazyIlp(), BestFirst(), Beam())
DECODERS |= {decoder.name: decoder for decoder in _SLOW}
