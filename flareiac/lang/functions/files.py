"""Functions of file names and files. Reads files inside the module's root only."""

import base64
import hashlib
import os
from dataclasses import replace
from pathlib import Path, PurePath

from flareiac.kernel.types import ANY, BOOL, STRING, SetType
from flareiac.lang.functions.define import function, takes
from flareiac.lang.functions.file_patterns import files_named
from flareiac.lang.functions.signature import Builtin, FunctionError, Template
from flareiac.lang.functions.templates import template_variables
from flareiac.lang.values import Value, boolean, set_value, string

_P = takes("path", STRING)


def file_functions(root: Path, module: str = ".") -> tuple[Builtin, ...]:
    """The functions with relative paths taken from ``root``. They read below it and below the directory of
    the ``module`` that calls them, which is relative to ``root``.
    """
    files = _Files(root, root / module)
    reading = (
        function("file", (_P,), STRING, files.read, "The text of a file inside the module's directory."),
        function(
            "filebase64",
            (_P,),
            STRING,
            lambda path: string(base64.b64encode(files.content(path)).decode()),
            "The bytes of a file inside the module's directory in base64.",
        ),
        *(_hash(files, algorithm, in_base64=False) for algorithm in ("md5", "sha1", "sha256", "sha512")),
        *(_hash(files, algorithm, in_base64=True) for algorithm in ("sha256", "sha512")),
        function(
            "fileexists", (_P,), BOOL, files.exists, "Whether there is a file inside the module's directory."
        ),
        function(
            "fileset",
            (_P, takes("pattern", STRING)),
            SetType(STRING),
            files.named,
            "The files below a folder that a pattern with *, **, ?, [a-z] and {a,b} names, relative to it.",
        ),
    )
    return (
        function("abspath", (_P,), STRING, files.absolute, "The absolute form of a path."),
        function("basename", (_P,), STRING, _basename, "The last part of a path."),
        function("dirname", (_P,), STRING, _dirname, "A path without its last part."),
        *(replace(each, reads_files=True) for each in reading),
        function(
            "pathexpand", (_P,), STRING, _expand, "A path with ~ at its start replaced by the home directory."
        ),
        replace(
            function(
                "templatefile",
                (_P, takes("variables", parts=True)),
                ANY,
                files.template,
                "What the template in a file comes to with variables: their names stand in it as they are.",
            ),
            in_templates=False,
        ),
    )


def _hash(files: "_Files", algorithm: str, *, in_base64: bool) -> Builtin:
    def call(path: Value) -> Value:
        hashed = hashlib.new(algorithm, files.content(path), usedforsecurity=False)
        return string(base64.b64encode(hashed.digest()).decode() if in_base64 else hashed.hexdigest())

    form = "base64" if in_base64 else "hexadecimal digits"
    description = f"The {algorithm.upper()} of a file inside the module's directory in {form}."
    name = f"file{'base64' if in_base64 else ''}{algorithm}"
    return function(name, (_P,), STRING, call, description)


class _Files:
    """The functions that depend on where the module is."""

    def __init__(self, root: Path, module: Path) -> None:
        self.root, self.module = root, module

    def inside(self, path: str) -> Path:
        try:
            resolved = (self.root / path).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise FunctionError(f"{path!r} is no usable path: {error}", 0) from None
        if not self.has(resolved):
            raise FunctionError(
                f"{path!r} lies outside of the module's directory, and only files inside it are read", 0
            )
        return resolved

    def has(self, resolved: Path) -> bool:
        return any(resolved.is_relative_to(tree.resolve()) for tree in (self.root, self.module))

    def read(self, path: Value) -> Value:
        try:
            return string(self.content(path).decode())
        except UnicodeDecodeError:
            raise FunctionError(f"{path.raw!r} is not UTF-8 text", 0) from None

    def content(self, path: Value) -> bytes:
        resolved = self.inside(path.raw)
        try:
            if resolved.exists() and not resolved.is_file():
                raise FunctionError(f"{path.raw!r} is not a plain file", 0)
            return resolved.read_bytes()
        except OSError as error:
            raise FunctionError(f"{path.raw!r} cannot be read: {error.strerror or error}", 0) from None

    def exists(self, path: Value) -> Value:
        resolved = self.inside(path.raw)
        try:
            directory, file = resolved.is_dir(), resolved.is_file()
        except OSError as error:
            raise FunctionError(f"{path.raw!r} cannot be looked for: {error.strerror or error}", 0) from None
        if directory:
            raise FunctionError(f"{path.raw!r} is a directory", 0)
        return boolean(file)

    def named(self, path: Value, pattern: Value) -> Value:
        named = files_named(self.inside(path.raw), pattern.raw, self.has)
        return set_value(map(string, named), STRING)

    def template(self, path: Value, variables: Value) -> Template:
        text = self.read(path).raw
        members = template_variables(variables)
        return Template(name=path.raw, text=text, variables=members, is_text=False, reads_files=True)

    def absolute(self, path: Value) -> Value:
        return string(os.path.normpath(self.root.absolute() / path.raw))


def _basename(path: Value) -> Value:
    return string(
        (PurePath(path.raw).name or ("/" if path.raw.startswith("/") else ".")) if path.raw else "."
    )


def _dirname(path: Value) -> Value:
    head = os.path.dirname(path.raw)  # noqa: PTH120 - a trailing slash counts
    return string(os.path.normpath(head) if head else ".")


def _expand(path: Value) -> Value:
    return string(os.path.expanduser(path.raw) if path.raw == "~" or path.raw.startswith("~/") else path.raw)  # noqa: PTH111 - never raises
