"""Why a line of a rendered file is as it is, and what a field of the manifest does.

Rendering is pure and takes milliseconds, so nobody has to write down what depends on what: it is tried. `reads` sees
which fields of the manifest and which rows of the catalogue a file was made from, `samples` has other values for them,
and `trials` renders the file again with one of them changed. A line that is then another one depends on it.
"""
