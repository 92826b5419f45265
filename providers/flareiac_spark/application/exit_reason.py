"""Picks the lines of a driver's output that say why its process ended. Pure."""

import re

_TELLING = (
    re.compile(r"flareiac driver (?:ended|refused to start): (?P<cause>.+)"),
    re.compile(
        r"(?P<cause>JAVA_HOME is not set.*|.*java: (?:command )?not found.*|.*No such file or "
        r"directory.*java.*)"
    ),
    re.compile(
        r"(?P<cause>Unrecognized VM option.*|Unrecognized option: -.*|Invalid maximum heap size.*|Error: "
        r"Could not .*)"
    ),
    re.compile(r"(?P<cause>Error occurred during initialization of VM: .*)"),
    re.compile(
        r"(?P<cause>.*There is insufficient memory for the Java Runtime.*|.*Cannot allocate memory.*)"
    ),
    re.compile(r"(?P<cause>.*UnsupportedClassVersionError.*|.*Address already in use.*|.*BindException.*)"),
    re.compile(r"(?P<cause>ModuleNotFoundError: .*|ImportError: .*)"),
    re.compile(r'Exception in thread "main" (?P<cause>.+)'),
)
_USELESS = ("JAVA_GATEWAY_EXITED", "Java gateway process exited")


def exit_reason(output: str) -> str:
    """One or a few lines that tell best why the process ended."""
    output = output.replace("initialization of VM\n", "initialization of VM: ")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    causes = [
        match["cause"].strip() for line in lines for pattern in _TELLING if (match := pattern.search(line))
    ]
    telling = list(dict.fromkeys(cause for cause in causes if not any(word in cause for word in _USELESS)))
    if telling:
        return "\n".join(telling[:3])
    quiet = [
        line
        for line in lines
        if not line.startswith(("at ", "WARNING:", "Using Spark's", "Setting default", "To adjust"))
    ]
    return "\n".join(quiet[-3:]) or "It said nothing."
