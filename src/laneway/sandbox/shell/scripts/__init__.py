"""Reading inline scripts: what a piece of Python, Perl, JavaScript and others would do to files, shells and hosts."""
