"""Hooks of MkDocs that complete the HTML of the theme: the dialog of the search and the navigation's parts get names."""

import re

DIALOG = '<div class="md-search" data-md-component="search" role="dialog"'
# The labels to which these names refer are not visible at all widths, and are no names then.
REFERENCE = re.compile(r'aria-labelledby="(__nav_\d+(?:_\d+)*)_label"')
TAG = re.compile(r"<[^>]*>")


def on_post_page(output, **_):
    def named(match):
        label = re.search(rf'<label class="md-nav__title" for="{match[1]}"[^>]*>(.*?)</label>', output, re.DOTALL)
        return f'aria-label="{" ".join(TAG.sub("", label[1]).split())}"' if label else match[0]

    return REFERENCE.sub(named, output).replace(DIALOG, f'{DIALOG} aria-label="Search"')


def on_post_template(output_content, template_name, **_):
    return on_post_page(output_content) if template_name == "404.html" else output_content
