"""Random texts of HCL with spaces, newlines and comments wherever they may stand, and mangled real ones."""

import random
import re
from collections.abc import Callable

_NAMES = ("a", "bb", "long_name", "for_each", "in", "x-y", "type", "größe")
_NUMBERS = ("0", "12", "1.50", "3e2")
_OPERATORS = ("+", "-", "*", "/", "%", "==", "!=", "<", ">", "<=", ">=", "&&", "||")
_TEXTS = ("", "x", "a b", "$${no}", "%%{", "\\n", "#", "//", "wörter", "👩‍👩‍👧", "$", "{", "日本")


class Texts:
    """Makes texts from a seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def file(self) -> str:
        """A file: attributes, blocks, comments and blank lines."""
        text = self._body(2, "")
        return (
            text.rstrip("\n") if self._one_in(9) else text.replace("\n", "\r\n") if self._one_in(9) else text
        )

    def mangled(self, text: str) -> str:
        """The same text with other spaces between its words, other indentation and more blank lines."""
        out = []
        for line in text.split("\n"):
            spaced = re.sub(r"(?<=\w) *= *(?=[\w\[{\"])", lambda _: self._gap() + "=" + self._gap(), line)
            out.append(self._gap() + spaced.strip() + self._gap())
            out += [self._gap()] * self._one_in(12)
        return "\n".join(out)

    def _one_in(self, number: int) -> bool:
        return not self._random.randrange(number)

    def _gap(self) -> str:
        return self._random.choice(("", "", " ", " ", "  ", "\t", "     "))

    def _space(self) -> str:
        """White space between two tokens of one line, at least one space."""
        return " /* c */ " if self._one_in(25) else " " + self._gap()

    def _break(self) -> str:
        """White space or comments between two tokens inside of brackets."""
        match self._random.randrange(8):
            case 0:
                return "\n" + self._gap()
            case 1:
                return self._gap() + self._random.choice(("# why\n", "//so\n", "\n\n", "/* x\n y */"))
            case _:
                return self._gap()

    def _body(self, depth: int, indent: str) -> str:
        lines = [self._gap() + self._statement(depth) for _ in range(self._random.randrange(1, 6))]
        return indent + "".join(lines)

    def _statement(self, depth: int) -> str:
        match self._random.randrange(10):
            case 0:
                return self._random.choice(("\n", "\n\n\n", "# c\n", "//c\n", "/* a\n  b */\n", "#  c  \n"))
            case 1 | 2 if depth:
                return self._block(depth)
            case 3:
                return self._heredoc()
            case _:
                return f"{self._name()}{self._gap()}={self._space()}{self._value(depth)}{self._end()}"

    def _name(self) -> str:
        return f"{self._random.choice(_NAMES)}{self._random.randrange(999)}"

    def _end(self) -> str:
        return self._random.choice(
            ("\n", "\n", "\n", " \n", "# c\n", "  //c\n", " /* c */\n", "/* c */ # d\n")
        )

    def _block(self, depth: int) -> str:
        labels = [self._random.choice(('"x y"', '"a"', "b")) for _ in range(self._random.randrange(3))]
        header = self._random.choice(("variable", "job", "x")) + " " + (self._gap() + " ").join(labels)
        match self._random.randrange(4):
            case 0:
                return f"{header}{self._gap()}{{{self._gap()}}}{self._end()}"
            case 1:
                return f"{header} {{ {self._name()}={self._simple()} }}{self._end()}"
            case _:
                begun = self._random.choice(("\n", "\n\n", " # c\n"))
                types = "type=" + self._random.choice(("list", "set", '"map"', '"string"', "any")) + "\n"
                return (
                    f"{header} {{{begun}{types * self._one_in(2)}{self._body(depth - 1, '')}}}{self._end()}"
                )

    def _heredoc(self) -> str:
        lines = "".join(
            self._gap()
            + self._random.choice(_TEXTS).replace("{", "(")
            + self._sequence() * self._one_in(3)
            + "\n"
            for _ in range(self._random.randrange(4))
        )
        return (
            f"{self._name()} ={self._gap()}<<{self._random.choice(('', '-'))}EOT\n{lines}{self._gap()}EOT\n"
        )

    def _sequence(self) -> str:
        inner = self._simple() if self._one_in(2) else f"[{self._break()}{self._simple()}{self._break()}]"
        return f"${{{self._random.choice(('', '~'))}{self._gap()}{inner}{self._gap()}}}"

    def _simple(self) -> str:
        return self._random.choice(
            (self._name(), self._random.choice(_NUMBERS), f'"{self._random.choice(_TEXTS)}"', "-1", "!true")
        )

    def _value(self, depth: int) -> str:
        if self._one_in(8):
            inner = self._value(0) if self._one_in(2) else self._name()
            return f'"${{{self._gap()}{inner}{self._gap()}}}"'
        forms: tuple[Callable[[int], str], ...] = (
            lambda _: self._simple(),
            lambda _: self._simple(),
            self._list,
            self._object,
            self._call,
            self._operation,
            self._for,
            self._template,
            self._steps,
        )
        return self._random.choice(forms)(depth) if depth >= 0 else self._simple()

    def _list(self, depth: int) -> str:
        parts = [
            f"{self._break()}{self._value(depth - 1)}{self._break()}"
            for _ in range(self._random.randrange(4))
        ]
        return f"[{','.join(parts)}{',' * (bool(parts) and self._one_in(3))}{self._break()}]"

    def _object(self, depth: int) -> str:
        keys = ("a", '"b c"', "(bb)", "long_key")
        separators = ("=", " = ", ":", " :  ")
        entries = [
            f"{self._random.choice(keys)}{self._random.choice(separators)}{self._value(depth - 1)}"
            for _ in range(self._random.randrange(4))
        ]
        between = self._random.choice((", ", ",\n", "\n", "\n\n", " # c\n"))
        around = "\n" if "\n" in between else ""
        return f"{{{self._gap()}{around}{between.join(entries)}{around}{self._gap()}}}"

    def _call(self, depth: int) -> str:
        arguments = ",".join(
            f"{self._break()}{self._value(depth - 1)}" for _ in range(self._random.randrange(3))
        )
        expanded = "..." if arguments and self._one_in(4) else ""
        name = self._random.choice(("f", "provider::x::f"))
        return f"{name}({arguments}{expanded}{self._break()})"

    def _operation(self, depth: int) -> str:
        left, right = self._value(depth - 1), self._value(depth - 1)
        if self._one_in(3):
            return (
                f"({self._break()}{left}{self._gap()} ?{self._break()}{right} :{self._gap()}{self._simple()})"
            )
        return f"{left} {self._gap()}{self._random.choice(_OPERATORS)}{self._gap()} {right}"

    def _for(self, depth: int) -> str:
        source, result = self._value(depth - 1), self._value(depth - 1)
        condition = " if  x" if self._one_in(3) else ""
        if self._one_in(2):
            return f"[for x in {source} :{self._break()}{result}{condition}{self._break()}]"
        group = "..." * self._one_in(4)
        return f"{{for k,v in {source}:{self._break()}k=>{result}{group}{condition}{self._break()}}}"

    def _template(self, _depth: int) -> str:
        parts = "".join(
            self._random.choice(
                (self._random.choice(_TEXTS), f"${{{self._gap()}{self._name()}{self._gap()}}}")
            )
            for _ in range(self._random.randrange(4))
        )
        return f'"{parts}%{{ if  x }}a%{{else }}b%{{ endif}}"' if self._one_in(5) else f'"{parts}"'

    def _steps(self, depth: int) -> str:
        steps = (".b", "[0]", "[*].c", ".*.d", "[ 1 ]", f"[{self._value(depth - 1)}]", ".0", ' ["k"]')
        return self._name() + "".join(self._random.choice(steps) for _ in range(self._random.randrange(1, 4)))
