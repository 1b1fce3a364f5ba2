"""Reading a manifest: the file, YAML with its comments, keys and values."""

from __future__ import annotations

from clustergen.diagnostics.codes.model import ERROR, INFO, WARNING, Code

READING: tuple[str | Code, ...] = (
    "Files, YAML and comments",
    Code("file-unreadable", ERROR, "The file cannot be read", exit_code=3),
    Code("file-too-large", ERROR, "The file is larger than any manifest"),
    Code("file-not-utf8", ERROR, "The file is not UTF-8 text"),
    Code("yaml-syntax", ERROR, "The file is not valid YAML"),
    Code("yaml-tab", ERROR, "A tab in the indentation"),
    Code("yaml-duplicate-key", ERROR, "A key is listed twice in one mapping"),
    Code("yaml-too-deep", ERROR, "Too many nested levels"),
    Code("yaml-too-many-aliases", ERROR, "Aliases expand to too many values"),
    Code("yaml-tag", ERROR, "A YAML tag is not allowed"),
    Code("yaml-merge-key", ERROR, "Merge keys are not supported"),
    Code("yaml-many-documents", ERROR, "The file contains more than one YAML document"),
    Code("suppression-invalid", WARNING, "An invalid suppression comment"),
    Code("suppression-unused", INFO, "A suppression comment without effect"),
    "Keys of the manifest",
    Code("manifest-empty", ERROR, "The manifest is empty"),
    Code("manifest-not-a-mapping", ERROR, "The manifest is not a mapping of sections"),
    Code("extends-invalid", ERROR, "A file that the manifest extends cannot be used"),
    Code("like-invalid", ERROR, "A node type is like one that cannot be used"),
    Code("node-override-invalid", ERROR, "Nodes override a field that they cannot have"),
    Code("key-unknown", ERROR, "An unknown key"),
    Code("key-missing", ERROR, "A required key is missing"),
    Code("setting-unused", WARNING, "A setting that nothing in this cluster reads"),
    "Values of the manifest",
    Code("type-wrong", ERROR, "A value is of the wrong type"),
    Code("value-not-allowed", ERROR, "A value is not one of those allowed"),
    Code("value-out-of-range", ERROR, "A value is too small, too large, too short or too long"),
    Code("text-malformed", ERROR, "A value does not have the required form"),
    Code("path-malformed", ERROR, "A path with . or .. components"),
    Code("unit-wrong", ERROR, "A quantity has no unit, or the wrong one"),
    Code("hostlist-syntax", ERROR, "A host list cannot be parsed"),
    Code("secret-in-manifest", ERROR, "The manifest contains a secret"),
)
