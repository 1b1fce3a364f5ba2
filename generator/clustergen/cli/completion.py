"""Print the completion script for bash, zsh or fish."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from clustergen.cli.exit_codes import USAGE, exit_codes

_PROGRAM, _VARIABLE = "clustergen", "_CLUSTERGEN_COMPLETE"


@exit_codes("printed", "", USAGE, "")
@click.command("completion")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash: add to ~/.bashrc                   eval "$(clustergen completion bash)"
    zsh:  add to ~/.zshrc, after compinit    eval "$(clustergen completion zsh)"
    fish: add to ~/.config/fish/config.fish  clustergen completion fish | source

    Then the tab key completes verbs, options, files, diagnostic codes, fields of the manifest, checks, and names of the
    catalogue; zsh and fish show a description beside each.
    """
    from clustergen.cli import group

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(group, {}, _PROGRAM, _VARIABLE).source())
