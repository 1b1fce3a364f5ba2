"""Why a line of a rendered file is as it is, and what a field of the manifest does.

Rendering is pure and takes milliseconds, so nobody has to write down what depends on what: it is tried. `reads` sees
which fields of the manifest and which rows of the catalogue a file was made from, `fields` has other values for them,
and `study` renders the file again, by its `producers`, with one of them changed; `reuse` keeps the parts of the
cluster that do not change. A line that then differs depends on it. A line depends on few fields: `halving` finds them
by trying many at once.
"""
