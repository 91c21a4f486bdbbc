"""The embedded default: llama.cpp's server from the `xllamacpp` wheel, in a process of its own, for machines without a GPU.

`engine` is what the bot uses, `child` the server process, `prefixes` the store of computed guide prefixes. Only `child`
imports `xllamacpp`: native code that crashes takes the child down, never the bot.
"""

from engines.llamacpp.engine import LlamaCppEngine, Settings, launched

__all__ = ["LlamaCppEngine", "Settings", "launched"]
