"""Steps in Python: what is wrong with their code is told at validate, and an apply gets exactly the code that
was planned.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from flareiac.kernel.data import Attributes
from flareiac.kernel.diagnostics import Diagnostic, Failure, Severity
from flareiac.sdk.project import Project
from flareiac.sdk.references import Resolved
from flareiac_spark.definition.build import digest_of, spec_of
from flareiac_spark.definition.code import MAX_BYTES, Unusable, publish, read_code
from flareiac_spark.s3_store import S3Store
from flareiac_spark_runtime.control import job_spec_from_json, job_spec_to_json
from flareiac_spark_runtime.control.code_archive import unpacked
from flareiac_spark_runtime.storage import open_with, place_at, replace_whole
from tests.spark.declared import LAKE, STATELESS, Loaded, loaded
from tests.support.object_storage import buckets

GOOD = "def score(spark, inputs, params):\n    return inputs['orders']\n"
SQL = 'sql = "SELECT id, region FROM orders WHERE id > 0"'
PYTHON = STATELESS.replace('job "x" {', 'job "x" {\n  code = "jobs/"').replace(
    f"{{ {SQL} }}", '{ python = "score:score" }'
)


def declared(root: Path, hcl: str = PYTHON, **modules: str | bytes) -> Loaded:
    """A project with code; ``__`` in a module's name stands for a slash."""
    for name, text in (modules or {"score": GOOD}).items():
        path = root / "jobs" / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return loaded(LAKE + hcl, root)


def only(found: Loaded, code: str) -> Diagnostic:
    assert found.codes == [code], found.diagnostics
    assert found.diagnostics[0].detail
    assert found.diagnostics[0].subject is not None
    return found.diagnostics[0]


def step(found: Loaded) -> Attributes:
    attributes: Attributes = found.attributes()["steps"]["clean"]
    return attributes


def test_a_function_and_the_code_s_digest_are_part_of_the_definition(tmp_path: Path) -> None:
    body = (
        '\n    python = "score:score"\n    params = { factor = 2, names = ["a"] }\n    stateful = { '
        "state_version = 3 }\n  "
    )
    found = declared(tmp_path, PYTHON.replace(' python = "score:score" ', body))
    assert found.codes == []
    assert step(found)["python"] == "score:score"
    assert step(found)["params"] == {"factor": 2, "names": ["a"]}
    assert step(found)["stateful"] == {"state_version": 3, "ttl": None}
    code = found.attributes()["code"]
    assert code == {"path": "jobs", "digest": read_code(tmp_path / "jobs").digest}


def test_a_function_reads_every_column(tmp_path: Path) -> None:
    assert set(declared(tmp_path).attributes()["inputs"]["orders"]["columns"]) == {
        "id",
        "ts",
        "region",
        "unread",
    }


def test_names_and_contents_make_the_digest_and_nothing_else(tmp_path: Path) -> None:
    before = declared(tmp_path, score=GOOD, deep__other="x = 1\n").attributes()["code"]["digest"]
    folder = tmp_path / "jobs"
    os.utime(folder / "score.py", (1, 1))
    for name in ("notes.txt", ".hidden.py", ".git/hook.py", "__pycache__/score.py", "empty/data.csv"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("anything")
    assert read_code(folder).digest == before
    assert sorted(read_code(folder).modules) == ["deep/other.py", "score.py"]
    (folder / "deep/other.py").rename(folder / "deep/another.py")
    assert read_code(folder).digest != before


@pytest.mark.parametrize(
    ("edit", "code", "says"),
    [
        (('code = "jobs/"', ""), "FIK180", 'code = "jobs/"'),
        (('code = "jobs/"', 'code = "nowhere"'), "FIK101", "is not there"),
        (('code = "jobs/"', 'code = "main.flare.hcl"'), "FIK101", "is no folder"),
        (('code = "jobs/"', 'code = "landing"'), "FIK101", "no Python file"),
        (('code = "jobs/"', 'code = "s3://bucket/jobs"'), "FIK101", "local or mounted"),
        (("score:score", "scor:score"), "FIK102", 'Did you mean "score"?'),
        (("score:score", "score:scor"), "FIK102", 'It has score. Did you mean "score"?'),
        (("score:score", "score"), "FIK102", "module:function"),
        (("score:score", "../score:score"), "FIK102", "module:function"),
        (("score:score", "score:"), "FIK102", "module:function"),
        (('python = "score:score"', f'\n    python = "score:score"\n    {SQL}\n  '), "FIK166", "second step"),
        (('python = "score:score"', ('\n    python = "score:score"\n    params = { t = table.orders }\n '
            ' ')), "FIK182", "plain|resource"),
        (('python = "score:score"', ('\n    python = "score:score"\n    params = [1]\n '
            ' ')), "FIK182", "by name"),
        (('python = "score:score"', ('\n    python = "score:score"\n    stateful = { state_version = 0 }\n '
            ' ')), "FIK183", "Begin with 1"),
        (('python = "score:score"', ('\n    python = "score:score"\n    stateful = { ttl = "7d" }\n '
            ' ')), "FIK184", "getValueState"),
        (('python = "score:score"', 'params = { a = 1 }'), "FIK031", "module:function"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_step_is_told(
    edit: tuple[str, str], code: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / "landing").mkdir()
    text = PYTHON.replace(*edit)
    assert text != PYTHON
    found = declared(tmp_path, text)
    diagnostic = next((item for item in found.diagnostics if item.code == code), None)
    assert diagnostic is not None, found.diagnostics
    assert diagnostic.severity is Severity.ERROR
    assert diagnostic.subject is not None
    assert any(part in diagnostic.detail + diagnostic.summary for part in says.split("|")), diagnostic


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("def score(a, b, c):\n    return (\n", "jobs/score.py:2: '(' was never closed."),
        ("x = 1\nreturn x\n", "jobs/score.py:2: 'return' outside function."),
        (b"x = '\xff'\n", "utf-8"),
        (b"x = 1\0\n", "null bytes"),
        ("(" * 5000, "jobs/score.py:1: too many nested parentheses."),
        ("x = " + "-" * 100_000 + "1\n", "jobs/score.py"),
    ],
)
def test_what_is_no_python_is_told_with_its_line(text: str | bytes, says: str, tmp_path: Path) -> None:
    diagnostic = only(declared(tmp_path, score=text), "FIK103")
    assert diagnostic.attribute == ("code",)
    assert says in diagnostic.detail


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("def score(spark, inputs):\n    pass\n", "FIK181", "jobs/score.py:1"),
        ("\ndef score(spark, inputs, params, more):\n    pass\n", "FIK181", "jobs/score.py:2"),
        ("def score(spark, inputs, params, *, more):\n    pass\n", "FIK181", "jobs/score.py:1"),
        ("async def score(spark, inputs, params):\n    pass\n", "FIK181", "asynchronous"),
        (
            "def other():\n    def score(spark, inputs, params):\n        pass\n",
            "FIK102",
            "no function score",
        ),
        ("class A:\n    def score(self):\n        pass\n", "FIK102", "It has no function"),
    ],
)
def test_what_can_not_be_called_is_told(text: str, code: str, says: str, tmp_path: Path) -> None:
    diagnostic = only(declared(tmp_path, score=text), code)
    assert diagnostic.attribute == ("step", "clean", "python")
    assert says in diagnostic.summary + " " + diagnostic.detail


@pytest.mark.parametrize(
    "text",
    [
        "def score(spark, inputs, params=None, more=1):\n    pass\n",
        "def score(*everything):\n    pass\n",
        "import functools\nscore = functools.partial(print)\n",
        "class score:\n    pass\n",
        "from elsewhere import clean as score\n",
        "from elsewhere import *\n",
        "def __getattr__(name):\n    return print\n",
        "try:\n    import fast\nexcept ImportError:\n    def score(spark, inputs, params):\n        pass\n",
        "if (score := print):\n    pass\n",
        '"\\d"\ndef score(a, b, c): pass\n',
    ],
)
def test_what_may_be_callable_is_left_to_the_run(text: str, tmp_path: Path) -> None:
    assert declared(tmp_path, score=text).codes == []


def test_packages_and_folders_hold_modules(tmp_path: Path) -> None:
    assert declared(tmp_path, PYTHON.replace("score:score", "risk.eu:score"), risk__eu=GOOD).codes == []
    (tmp_path / "jobs/risk/__init__.py").write_text(GOOD)
    assert declared(tmp_path, PYTHON.replace("score:score", "risk:score")).codes == []


def test_a_module_that_hides_one_of_python_s_own_is_a_warning(tmp_path: Path) -> None:
    diagnostic = only(declared(tmp_path, score=GOOD, json="", deep__os=""), "FIK105")
    assert diagnostic.severity is Severity.WARNING
    assert "jobs/json" in diagnostic.detail


def test_code_without_a_step_in_python_is_a_warning_and_no_part_of_the_job(tmp_path: Path) -> None:
    found = declared(tmp_path, STATELESS.replace('job "x" {', 'job "x" {\n  code = "jobs/"'))
    assert only(found, "FIK104").severity is Severity.WARNING
    assert found.attributes()["code"] is None


def test_a_step_in_python_may_aggregate(tmp_path: Path) -> None:
    text = PYTHON.replace(
        "{ table = table.orders }", '{\n    table = table.orders\n    mode = "complete"\n  }'
    )
    assert declared(tmp_path, text).codes == []


def test_links_are_followed_inside_the_folder_only(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    (folder / "b.py").symlink_to("a.py")
    assert sorted(read_code(folder).modules) == ["a.py", "b.py"]
    (tmp_path / "secret.py").write_text("")
    for name, target in (("out.py", "../secret.py"), ("up", ".."), ("round", ".")):
        (folder / name).symlink_to(target)
        with pytest.raises(Unusable, match=f"{name} is a link"):
            read_code(folder)
        (folder / name).unlink()
    (folder / "self.py").symlink_to("self.py")
    with pytest.raises(Unusable, match=r"self\.py"):
        read_code(folder)
    (folder / "self.py").unlink()
    (folder / "gone.py").symlink_to("nothing.py")
    assert sorted(read_code(folder).modules) == ["a.py", "b.py"]


def test_odd_files_are_told_or_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "jobs"
    folder.mkdir()
    (folder / "a.py").write_text("x = 1\n")
    os.mkfifo(folder / "pipe.py")
    assert sorted(read_code(folder).modules) == ["a.py"]
    with (folder / "big.py").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(Unusable, match="16 MiB"):
        read_code(folder)
    (folder / "big.py").unlink()
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff.py")).write_text("")
    with pytest.raises(Unusable, match="UTF-8"):
        read_code(folder)


# What an apply does with it


def applied(found: Loaded) -> tuple[Attributes, Project, dict[str, Resolved]]:
    references = found.references()
    for address, item in references.items():
        if item.type == "table":
            references[address] = replace(item, identity={"uuid": "u"})
    return found.attributes(), found.project, references


def test_the_planned_code_is_where_the_spec_says(tmp_path: Path) -> None:
    attributes, project, references = applied(declared(tmp_path, score=GOOD, deep__other="x = 1\n"))
    spec = spec_of("job.x", attributes, references, project)
    assert spec.code is not None
    assert (spec.steps[0].sql, spec.steps[0].python) == (None, "score:score")
    assert job_spec_from_json(job_spec_to_json(spec)) == spec
    publish(attributes, project)
    publish(attributes, project)
    place = Path(spec.code)
    assert place.name == attributes["code"]["digest"]
    assert {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()} == {
        "score.py",
        "deep/other.py",
    }
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    (place / "score.py").write_text("damaged")
    publish(attributes, project)
    assert (place / "score.py").read_text() == GOOD


def test_another_digest_is_another_definition(tmp_path: Path) -> None:
    digests = set()
    for text in (GOOD, GOOD + "\n", GOOD):
        attributes, project, references = applied(declared(tmp_path, score=text))
        digests.add(digest_of(spec_of("job.x", attributes, references, project), attributes))
    assert len(digests) == 2


def test_code_that_changed_since_the_plan_is_not_taken(tmp_path: Path) -> None:
    attributes, project, _ = applied(declared(tmp_path))
    (tmp_path / "jobs/score.py").write_text(GOOD + "\n")
    with pytest.raises(Failure, match="changed after the plan"):
        publish(attributes, project)
    (tmp_path / "jobs/score.py").unlink()
    with pytest.raises(Failure, match="cannot be used"):
        publish(attributes, project)


def test_code_that_is_there_already_needs_no_folder(tmp_path: Path) -> None:
    attributes, project, _ = applied(declared(tmp_path))
    publish(attributes, project)
    (tmp_path / "jobs/score.py").unlink()
    publish(attributes, project)


def test_a_place_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    attributes, project, _ = applied(declared(tmp_path))
    place = tmp_path / attributes["application"]["runtime_location"]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("a file")
    with pytest.raises(Failure, match="cannot be copied") as caught:
        publish(attributes, project)
    assert caught.value.diagnostics[0].code == "FIK107"


def test_code_of_an_application_in_s3_is_put_there_once_and_repaired(tmp_path: Path) -> None:
    engine = 'engine "local" { runtime_location = "s3://lake/control" }\n'
    found = declared(tmp_path, engine + PYTHON.replace('job "x" {', 'job "x" {\n  engine = engine.local'))
    assert found.codes == []
    project = Project(root=tmp_path)
    digest = read_code(tmp_path / "jobs").digest
    with buckets("lake"):
        archive = place_at(f"s3://lake/control/code/{digest}.zip")
        publish(found.attributes(), project)
        first = archive.read_bytes()
        assert unpacked(first, digest) == {"score.py": GOOD.encode()}
        replace_whole(archive, first[:-10])
        publish(found.attributes(), project)
        assert archive.read_bytes() == first
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:9")
            open_with(S3Store)
            with pytest.raises(Failure) as caught:
                publish(found.attributes(), project)
    assert caught.value.diagnostics[0].code == "FIK107"
    assert "s3://lake" in caught.value.diagnostics[0].detail
    assert not (tmp_path / "s3:").exists()
