"""The grammar: which words make which part of a request, module by module, and put together in language.py."""
