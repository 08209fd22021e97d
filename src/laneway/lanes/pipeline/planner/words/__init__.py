"""What words mean about any table, as plain lists: nothing in here reads a request or looks at a table."""
