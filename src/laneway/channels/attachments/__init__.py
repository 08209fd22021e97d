"""Attachments: originals are fetched and stored, then turned into words.

A voice note becomes its transcript, an image a description, its size and the text in it, a document its text. Whatever
comes from outside is opened in a process of its own, behind walls and with little memory and time (`worker.py`); what
cannot be read gets a note, and the message it came with is answered all the same.
"""
