"""Picks the lines of a driver's output that say why its process ended. Pure."""

import re

from flareiac_spark_runtime.submitted import EXIT_NO_DRIVER, EXIT_OLD_PYTHON

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
    re.compile(r"Caused by: (?P<cause>java\.(?:io|net)\..+)"),
)
_CODES = {
    EXIT_OLD_PYTHON: "The Python of the host or image that runs the driver is older than 3.11. Use another "
    'image, or name a newer one: conf = { "spark.pyspark.python" = "/opt/python/bin/python3" }.',
    EXIT_NO_DRIVER: "The host or image that runs the driver cannot import it: its Python lacks a module, or "
    "the archive of --py-files did not arrive.",
}
"""The reason behind the exit code of a driver whose output is on another host, with the way out."""
_EXITED = re.compile(r"(?:exit code: |[Uu]ser application exited with (?:status )?|exitCode: )(\d+)")
_USELESS = ("JAVA_GATEWAY_EXITED", "Java gateway process exited")


def exit_reason(output: str) -> str:
    """One or a few lines that tell best why the process ended."""
    output = output.replace("initialization of VM\n", "initialization of VM: ")
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    known = {_CODES.get(int(match[1]), "") for match in _EXITED.finditer(output)} - {""}
    if known:
        return "\n".join(sorted(known))
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
