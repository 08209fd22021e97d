"""What the words of a request name: columns, values, and the rows themselves."""
