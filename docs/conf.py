# SPDX-FileCopyrightText: 2026 s3ops.garage contributors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sphinx's settings for the documentation site, which `make docs` builds."""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parents[1]
REPOSITORY = "https://github.com/s3ops/s3ops.garage"
ANSIBLE = "https://docs.ansible.com/projects/ansible/latest"
# What the reference pages name of Ansible's own documentation, which is not asked for its index: a build needs no network.
ANSIBLE_PAGES = {
    "common_return_values": "reference_appendices/common_return_values.html",
    "ansible_configuration_settings": "reference_appendices/config.html",
}

project = "s3ops.garage"
author = "s3ops.garage contributors"
html_title = "s3ops.garage"
extensions = ["myst_parser", "sphinx_antsibull_ext"]
myst_heading_anchors = 3
highlight_language = "yaml+jinja"
html_theme = "furo"
html_theme_options = {"source_repository": REPOSITORY, "source_branch": "main", "source_directory": "docs/"}
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
smartquotes_action = "D"
html_show_sphinx = False


def with_contents(dummy_app: Sphinx, docname: str, source: list[str]) -> None:
    """The contents beside each page are what index.md links to, under its headings, and the pages of plugins and roles, which only this site has. The
    file has no list of its own, which would look odd in the repository."""
    if docname == "index":
        sections = [(section.partition("\n")[0], re.findall(r"\]\(([\w-]+)\.md\)", section)) for section in source[0].split("\n## ")[1:]]
        for caption, pages in [*sections, ("Reference", ["Modules, plugins and roles <reference/index>"])]:
            source[0] += "\n".join(("\n", "```{toctree}", ":hidden:", f":caption: {caption}", *pages, "```", ""))


def short_names(dummy_app: Sphinx, docname: str, source: list[str]) -> None:
    """The pages of plugins and roles have long titles, and contents that the theme shows already."""
    if docname.startswith("reference/"):
        source[0] = re.sub(r"^\.\. contents::\n(?: +:.*\n)+", "", source[0], flags=re.M)
        source[0] = re.sub(r"^    (\w+)_([a-z]+)$", r"    \1 (\2) <\1_\2>", source[0], flags=re.M)


def to_repository(dummy_app: Sphinx, doctree: nodes.document) -> None:
    """Guides are read in the repository too, where a link may leave docs/. Here it leads to the repository. One to a file that is not there is left
    as it is, for Sphinx to find fault with."""
    for node in list(doctree.findall(pending_xref)):
        path = node["reftarget"].partition("#")[0]
        if path.startswith("../") and (ROOT / "docs" / path).exists():
            address = f"{REPOSITORY}/blob/main/{node['reftarget'].removeprefix('../')}"
            node.replace_self(nodes.reference("", "", *node.children, refuri=address))


def to_ansible(dummy_app: Sphinx, dummy_env: BuildEnvironment, node: pending_xref, text: nodes.TextElement) -> nodes.reference | None:
    """What the pages of plugins name of Ansible's own documentation and of other collections'."""
    target = node["reftarget"]
    if target in ANSIBLE_PAGES:
        return nodes.reference("", "", text, refuri=f"{ANSIBLE}/{ANSIBLE_PAGES[target]}")
    if target.startswith("ansible_collections."):
        page = target.removeprefix("ansible_collections.").replace(".", "/")
        return nodes.reference("", "", text, refuri=f"{ANSIBLE}/collections/{page}.html")
    return None


def setup(app: Sphinx) -> None:
    app.connect("source-read", with_contents)
    app.connect("source-read", short_names)
    app.connect("doctree-read", to_repository)
    app.connect("missing-reference", to_ansible)
