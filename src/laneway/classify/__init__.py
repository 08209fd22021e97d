"""The judgement on a message: the cheapest tier that is sure decides.

Rules come first and cost nothing; the small model is asked only when they are unsure and a key is set. Every
judgement says who made it.
"""
