"""A project whose state goes from place to place: every backend, every direction, a fresh checkout on the
way.
"""

from pathlib import Path

from tests.state.remote_places import postgresql_server, s3_block, s3_server
from tests.support.command_line import Ended, flareiac
from tests.support.ports import free_port

_THING = 'thing "a" {\n  name  = flareiac.workspace\n  value = "1"\n}\n'


def declare(root: Path, block: str) -> None:
    settings = f"flareiac {{\n  {block}\n}}\n" if block else ""
    (root / "main.flare.hcl").write_text(settings + _THING, encoding="utf-8")


def run(root: Path, *words: str, code: int = 0, **variables: str) -> Ended:
    done = flareiac(root, *words, **variables)
    assert done.code == code, done.text
    return done


def test_a_state_moves_between_all_backends(tmp_path: Path) -> None:
    with s3_server() as endpoint, postgresql_server(tmp_path / "server") as server:
        s3 = s3_block(endpoint, "moving")
        postgresql = f'backend "postgresql" {{\n    connection = "{server.uri("postgres")}"\n  }}'
        root = tmp_path / "project"
        root.mkdir()
        declare(root, "")
        run(root, "apply", "-auto-approve")
        run(root, "workspace", "new", "dev")
        run(root, "apply", "-auto-approve")
        before = run(root, "state", "pull").out
        for block in (s3, postgresql, s3, "", postgresql, ""):
            declare(root, block)
            refused = run(root, "plan", code=1)
            assert "init -migrate-state" in " ".join(refused.err.replace("│", " ").split())
            run(root, "init", "-migrate-state")
            assert run(root, "state", "pull").out == before
            assert run(root, "workspace", "list").out.split() == ["default", "*", "dev"]
            run(root, "plan", "-detailed-exitcode", FLAREIAC_WORKSPACE="default")
        fresh = tmp_path / "fresh"
        fresh.mkdir()
        declare(fresh, s3)
        left = run(fresh, "plan", code=1)
        assert "The state was moved [FIS069]" in left.err
        assert run(fresh, "state", "list").out.split() == ["thing.a"]


def test_trouble_with_a_backend_is_named_with_its_block(tmp_path: Path) -> None:
    with s3_server() as endpoint:
        block = s3_block(endpoint, "trouble")
        for old, new, code in (
            (endpoint, "127.0.0.1:1", "FIS041"),
            (endpoint, f"http://127.0.0.1:{free_port()}", "FIS002"),
            ('"states"', '"no-such-bucket"', "FIS002"),
        ):
            declare(tmp_path, block.replace(old, new))
            refused = run(tmp_path, "plan", code=1)
            assert f"[{code}]" in refused.err
            assert "on main.flare.hcl line 2, in flareiac" in refused.err
