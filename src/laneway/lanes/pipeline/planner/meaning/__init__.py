"""What the parts of a request come to together: gathered into clauses, settled, and turned into the steps of a plan."""
