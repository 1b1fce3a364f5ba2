"""Settings of Sphinx for the documentation site; tools/build-site starts it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from sphinx.application import Sphinx

from clustergen import __version__
from site_pages import diagrams, fences, index_entries

project = "clustergen"
author = "the clustergen authors"
version = release = __version__
extensions = ["myst_parser", "sphinx_copybutton"]
myst_enable_extensions = ["attrs_inline"]  # the colour of a severity
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # output with apostrophes, and YAML that is wrong on purpose
copybutton_prompt_text = r"\$ |> "  # a session is copied without its prompts and without its output
copybutton_prompt_is_regexp = True

WIDE = (
    "index",
    "start",
    "guides",
    "reference",
    "project",
    "comparison",
    "live-changes",
)  # without contents at the right

html_theme = "pydata_sphinx_theme"
html_title = f"clustergen {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_sidebars = {"index": [], "*": ["sidebar-nav-bs"], "codes/*": []}  # all codes on each page: half of the site
html_context = {"default_mode": "auto"}  # light or dark as the reader's system is
html_theme_options = {
    "logo": {"text": "clustergen"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "show_prev_next": False,
    "navigation_with_keys": False,
    "footer_start": [],
    "footer_end": [],
    "footer_center": ["version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": {"**": ["page-toc"]} | {page: [] for page in WIDE},
}
templates_path = ["templates"]


def setup(app: Sphinx) -> None:
    """Adds what this project's pages need beyond MyST."""
    for part in (diagrams, fences, index_entries):
        part.setup(app)
