"""A line to paste for one instance of a block leaves its other instances as they are, and is HCL."""

import pytest

from flareiac.kernel.addresses import Address
from flareiac.kernel.diagnostics import Diagnostics
from flareiac.kernel.sources import Source
from flareiac.lang.evaluate import evaluate
from flareiac.lang.parse import parse_file
from flareiac.lang.scope import Scope
from flareiac.lang.values import object_value, string, to_data
from flareiac_spark.instance_lines import line


def test_a_block_of_one_takes_the_value_alone() -> None:
    assert line("checkpoint.clicks", "generation", 2, 1) == "generation = 2"


def test_an_instance_of_count_is_told_by_its_index() -> None:
    assert line("checkpoint.clicks[0]", "generation", 2, 1) == "generation = count.index == 0 ? 2 : 1"


def test_an_instance_of_for_each_is_told_by_its_key() -> None:
    assert line('checkpoint.clicks["us"]', "generation", 2, 1) == 'generation = each.key == "us" ? 2 : 1'
    assert (
        line('job.clicks["us"]', "accept_result_change", "t0k")
        == 'accept_result_change = each.key == "us" ? "t0k" : null'
    )


@pytest.mark.parametrize("key", ["us", 'a"b', "a\\b", "${x}", "%{if}", "é"])
def test_the_line_means_this_instance_and_no_other(key: str) -> None:
    address = Address("checkpoint", "clicks", key)
    diagnostics = Diagnostics()
    body = parse_file(Source("a.flare.hcl", line(address, "generation", 2, 1) + "\n"), diagnostics)
    scopes = {each: Scope().child({"each": object_value({"key": string(each)})}) for each in (key, "another")}
    found = {
        each: to_data(evaluate(body.attributes[0].expr, scope, diagnostics)) for each, scope in scopes.items()
    }
    assert not list(diagnostics)
    assert found == {key: 2, "another": 1}
