"""Documents to text, one file per family. All of it runs behind walls (`worker.py`), never in the server itself."""
