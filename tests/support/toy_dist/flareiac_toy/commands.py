"""The commands of the toy provider. Declarations alone."""

from flareiac.sdk.commands import Command, Commands, Group

COMMANDS: Commands = {
    "thing": Group(
        "Look at the shine of things, and change it.",
        {
            "shine": Command(
                "flareiac_toy.thing_commands:shine", "Show how a thing has shone.", reads_only=True
            ),
            "polish": Command("flareiac_toy.thing_commands:polish", "Make a thing shine more."),
            "rollback": Command(
                "flareiac_toy.thing_commands:rollback", "Set a thing back to an earlier shine."
            ),
        },
    ),
}
