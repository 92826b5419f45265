"""The values that are put where they do not belong: tokens, numbers, texts and JSON values that programs have
stumbled over before.
"""

from typing import Any

TOKENS = (
    b'"a b"', b"", b"{", b"}", b"[", b"]", b"(", b")", b'"', b"${", b"%{", b"<<EOT\n", b"<<-\n", b"=", b"==", b"=>", b"?", b":",
    b"null", b"-1", b"1e999", b"0.5", b"true", b'""', b"\x00", b"\xff", b"\xc3\xa9", b"\xed\xa0\x80", b"\n", b"\r", b"\r\n", b",", b".",
    b"[*]", b"...", b"each.key", b"count.index", b"var.x", b"local.x", b"for_each = 1\n", (b"for_each = "
        b"null\n"), b"count = 2\n",
    (b"for_each = { a = 1 "
    b"}\n"), b'"\\u001b[31m"', b"table.t", b"self", b"//", b"/*", b"*/", b"#", b"\xef\xbb\xbf", b"9" * 40, b"a" * 300,
    (b"dynamic \"column\" { for_each = [] "
    b"}\n"), b"\xe2\x80\xae", b"\xe2\x80\xa8", b"\xc2\x85", b"\xf0\x9f\x92\xa9",
    b"import { to = x }\n", b"provider = 1\n", b"lifecycle {}\n", (b"depends_on = "
        b"[x]\n"), b"module.x", b"data.table.t",
    b"table.t[\"a\"]", b"table.t[0].name", b"job.j.outputs", b"stream.ticks", b"secret.x", b"`", b"\\", b"\\u12", b"$${", b"~}",
)  # fmt: skip
NUMBERS = (
    b"0", b"-1", b"1e400", b"1e-400", b"1e999999999", b"1e99999999999999999999", b"9" * 40, b"9" * 5_000, b"2147483648",
    b"9223372036854775808", b"1.5", b"0x10", b"-0", b"1e", b"00", b"NaN", b"Infinity", b"0.1e-7", b"18446744073709551616", b"1_000",
)  # fmt: skip
TEXTS = (
    b"", b"\\u001b[31m", b"\x1b[2J", b"\x00", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"\\u0000", b"\\n", b"\\", b"${", b"${x}", b"$${",
    (b"%{ if true "
    b"}"), b"\xc3\xa9", b"e\xcc\x81", b"\xe2\x80\xae", b"\xe2\x81\xa6", b"\xf0\x9f\x92\xa9", b"a" * 70_000, b"..", b"../../x",
    b"/dev/null", b"/", b"~", b"a/b", b"a.b", b"a\\\"b", b" ", b"-", b"*", b"sqlite:///", b"file:///x", b"s3://", b"s3://b/k",
    b"jdbc:x", b"http://[", b"http://[::1", b"://", b"postgresql://u:p@h:x/d", b"-1d", b"1e9d", b"99999999999999999999d", b"struct<",
    b"decimal(99,98)", b"map<int>", b"list<list<list<int>>>", (b"struct<a: int, a: "
        b"int>"), b"bucket[0]", b"SELECT", b"SELECT * FROM",
    b"SELECT (((((", b"SELECT 1; DROP", b"'", b"--", b"\\U0010ffff", b"2026-13-45", b"0001-01-01T00:00:00Z", b"99999-01-01", b"$root",
    b"$root/..", b"{}", b"[]", b"null", b"true", b"CON", b"\xc4\xb0", b"\xe1\xba\x9e",
)  # fmt: skip
JSON: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 2**31, 2**63, 2**70, -(2**70), 1e308, float("inf"), float("-inf"), float("nan"), "", "x", "\x1b[31m",
    "\x00", "é", "\ud800", "\u202e", "\x9b", [], [None], [[1]], [[[[]]]], {}, {"x": None}, {"": 1}, {"$ref": 1}, {"$ref": "a b"},
    {"$ref": None}, {"$unknown": True}, {"$unknown": 1}, {"$absent": True}, {"$secret": "x"}, "table.a b", "table.t[\"a\"]",
    "table.t[0]", "job.j", "[", "a" * 300, "a" * 70_000, "..", "../x", "$root", "$root/x", "$$root", "sqlite:///x.db", "create",
    "delete", "no-op", "replace", "read", "1", "-1", "true", "null", "2026-01-01T00:00:00Z", 1e11, 253402300800, 1e18, -1e18,
)  # fmt: skip
